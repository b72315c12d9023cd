"""Upgrades with everything running: nodes of two versions, a backfill that is killed at each step, an earlier ibidem.

    python benchmarks/upgrades.py [--only rolling|swap|release] [--write]

A cluster of two nodes with the plugin is upgraded node by node, and documents are ingested, deleted, decided on,
settled and searched at each stage. `ibidem backfill --into` is killed at each of its requests that change something,
once before and once after the engine has carried it out; others write and delete; the same command is given again, and
every document compared. An earlier release, built from the history of the project, leaves an index and messages in the
queue; this version takes them.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import measured
from benchmark import draw_lots, options, show
from faults.environment import Own
from faults.table import small_table
from servers.nodes import EngineName
from upgrade.earlier_release import upgrade_from
from upgrade.killed_swap import steps_to_try, trial
from upgrade.rolling import roll
from workers.backfill.conftest import Theirs

ROLLING: tuple[tuple[EngineName, str, str], ...] = (
    ("opensearch", "3.5.0", "3.8.0"),
    ("elasticsearch", "9.2.2", "9.5.3"),
    ("elasticsearch", "8.19.21", "9.5.3"),
)
"""Versions that have a zip of the plugin and can be started here."""

ENGINES: tuple[EngineName, ...] = ("opensearch", "elasticsearch")
PARTS = {"rolling": "Nodes of two versions", "swap": "Backfill into a new index, killed", "release": "Earlier release"}


def rolling() -> Iterator[str]:
    """Upgrade clusters node by node."""
    yield "| engine | versions side by side | laws broken |"
    yield "|---|---|---|"
    for engine, old, new in ROLLING:
        rng = draw_lots(f"{engine} {old}")
        with tempfile.TemporaryDirectory() as folder:
            for stage, faults in roll(engine, old, new, Path(folder), rng):
                yield f"| {engine} | {stage} | {len(faults)}{': ' if faults else ''}{'; '.join(faults[:5])} |"


def swap() -> Iterator[str]:
    """Kill a backfill at each change."""
    for engine in ENGINES:
        with Own() as own, tempfile.TemporaryDirectory() as name:
            index, folder = Theirs(own.server(engine).launch.url), Path(name)
            tables = small_table(folder)
            steps = trial(index, folder, tables, None)
            broken = []
            for at, carried_out in steps_to_try(steps):
                try:
                    trial(index, folder, tables, at, carried_out=carried_out)
                except (AssertionError, RuntimeError) as error:
                    broken.append(f"- {steps[at]} ({'after' if carried_out else 'before'}): {str(error)[:300]}")
                    print(broken[-1], flush=True)
        yield f"{engine}: killed {2 * len(steps)} times, before and after each of {len(steps)} changes."
        yield f"{len(broken)} laws broken."
        yield ""
        yield "Changes: " + ", ".join(f"{count} of `{step}`" for step, count in Counter(steps).items()) + "."
        yield from ("", *broken, "")


def release() -> Iterator[str]:
    """Take over from an earlier release."""
    with tempfile.TemporaryDirectory() as folder:
        yield from upgrade_from(Path(folder))


def is_broken(line: str) -> bool:
    """Return whether a line tells of broken laws."""
    counts = re.findall(r"\b(\d+) laws broken", line) + re.findall(r"^\| [^|]+ \| [^|]+ \| (\d+)", line)
    return any(map(int, counts))


def main() -> int:
    """Try, and write; returns 1 where a law was broken."""
    parser = options(__doc__, write=False)
    parser.add_argument("--only", choices=tuple(PARTS), help="one part alone")
    arguments = parser.parse_args()
    parts = {"rolling": rolling, "swap": swap, "release": release}
    has_broken = False
    for name in [arguments.only] if arguments.only else PARTS:
        lines = list(show(parts[name]()))
        has_broken |= any(map(is_broken, lines))
        if arguments.write:
            measured.write_part("upgrades", "Upgrades", list(PARTS.values()), PARTS[name], lines)
    return 1 if has_broken else 0


if __name__ == "__main__":
    sys.exit(main())
