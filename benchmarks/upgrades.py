"""Upgrades with everything running: nodes of two versions, a backfill that is killed at each step.

    python benchmarks/upgrades.py [--only EXPRESSION] [--write]

A cluster of two nodes with the plugin is upgraded node by node, and documents are ingested, deleted, decided on,
settled and searched at each stage. `ibidem backfill --into` is killed at each of its requests that change something,
once before and once after the engine has carried it out. Then others write and delete, the same command is given again,
and every document is compared. A kill is reported as missed if its change did not come. A page shows the
last run of each part.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import measured
from benchmark import draw_lots, options, show
from faults.environment import Own
from faults.table import small_table
from servers.nodes import EngineName
from upgrade.killed_swap import MissedStep, kills, trial
from upgrade.rolling import roll
from workers.backfill.conftest import Theirs

# Versions that have a zip of the plugin and can be started here.
ROLLING: tuple[tuple[EngineName, str, str], ...] = (
    ("opensearch", "3.5.0", "3.8.0"),
    ("elasticsearch", "9.2.2", "9.5.3"),
    ("elasticsearch", "8.19.21", "9.5.3"),
)

ENGINES: tuple[EngineName, ...] = ("opensearch", "elasticsearch")


def rolling(engine: EngineName, old: str, new: str) -> Iterator[str]:
    yield "Two nodes run the plugin. At each stage documents are ingested, deleted, decided on, settled and searched."
    yield ""
    yield "| versions side by side | laws broken |"
    yield "|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        for stage, faults in roll(engine, old, new, Path(folder), draw_lots(f"{engine} {old}")):
            yield f"| {stage} | {len(faults)}{': ' if faults else ''}{'; '.join(faults[:5])} |"


def swap(engine: EngineName) -> Iterator[str]:
    """Kill a backfill at each change."""
    broken, missed = [], []
    with Own() as own, tempfile.TemporaryDirectory() as name:
        index, folder = Theirs(own.server(engine).launch.url), Path(name)
        tables = small_table(folder)
        steps = trial(index, folder, tables, None)
        for kill in kills(steps):
            try:
                trial(index, folder, tables, kill)
            except MissedStep as error:
                missed.append(f"- {kill}: missed, {error}")
                print(missed[-1], flush=True)
            except (AssertionError, RuntimeError) as error:
                broken.append(f"- {kill}: {str(error)[:300]}")
                print(broken[-1], flush=True)
    yield "Before the command is given again, others write three documents and delete two. Every document is compared."
    killed = 2 * len(steps) - len(missed)
    yield f"Killed {killed} times, before and after each of {len(steps)} changes: {len(broken)} laws broken."
    yield f"{len(missed)} kills missed their change and tested nothing."
    yield ""
    yield "Changes: " + ", ".join(f"{times} of `{step}`" for step, times in Counter(steps).items()) + "."
    yield from ("", *broken, *missed)


def is_broken(line: str) -> bool:
    """Return whether a line tells of broken laws, or of kills that tried nothing."""
    counts = re.findall(r"\b(\d+) (?:laws broken|kills missed)", line) + re.findall(r"^\| [^|]+ \| (\d+)", line)
    return any(map(int, counts))


# What can be tried, each by itself.
PARTS: dict[str, Callable[[], Iterator[str]]] = {
    **{f"rolling {engine} {old} to {new}": partial(rolling, engine, old, new) for engine, old, new in ROLLING},
    **{f"swap {engine}": partial(swap, engine) for engine in ENGINES},
}

HEADINGS = {"rolling": "Nodes of two versions", "swap": "Backfill into a new index, killed"}


def heading(part: str) -> str:
    kind, _, rest = part.partition(" ")
    return HEADINGS[kind] + (f": {rest}" if rest else "")


def main() -> int:
    """Try, and write; returns 1 where a law was broken, or a kill tried nothing."""
    parser = options(__doc__, write=False)
    parser.add_argument("--only", default="", help="parts that match this expression alone: " + ", ".join(PARTS))
    arguments = parser.parse_args()
    has_broken = False
    for name in (each for each in PARTS if re.search(arguments.only, each)):
        lines = list(show(PARTS[name]()))
        has_broken |= any(map(is_broken, lines))
        if arguments.write:
            measured.write_part("upgrades", "Upgrades", list(map(heading, PARTS)), heading(name), lines)
    return 1 if has_broken else 0


if __name__ == "__main__":
    sys.exit(main())
