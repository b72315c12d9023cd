"""Trouble in a cluster of three nodes with the plugin, and in RabbitMQ, under ingest, deletions and searches.

    python benchmarks/nodes.py [--engine opensearch] [--rounds 1] [--seed 1] [--only EXPRESSION] [--write]

Each fault of `tests/nodes/trials.py` begins in the middle of an ingest through RabbitMQ and two workers, and ends after
every timeout has passed. Then the index is compared with a history of what was acknowledged in the meantime: documents,
deletions (whose documents are submitted once more and must not come back), decisions, stored groups (their laws, and
one plain pass) and counts. Searches by the plugin run at each node: every answer must be whole, or an error, and each
node answers again once all is well. A page shows the last trial of each trouble, with its commit.
"""

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import measured
from benchmark import draw_lots, options
from faults.environment import Own
from nodes.cluster import FrailNodes
from nodes.trials import AWAY_S, TROUBLES, Outcome, Place, try_trouble
from servers.nodes import NODE, EngineName

HEADINGS = (
    "trouble", "documents", "command given", "acknowledged meanwhile", "searches whole", "failed", "laws broken", "s",
    "seed", "commit",
)  # fmt: skip
BROKEN = HEADINGS.index("laws broken") + 1  # column of a row that is split at its bars

PLAN = (
    "Two workers ingest documents from RabbitMQ while other clients delete documents, make manual decisions and search."
    f" Then the trouble starts; it lasts at least {AWAY_S:.0f} s, longer than every timeout. A law is broken if the "
    "index, the result of the run or a response contradicts an acknowledged write, deletion or decision."
)

NAMES = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}


def trials(engine: EngineName, troubles: Sequence[str], rounds: int, seed: int) -> Iterator[Outcome]:
    """Try each trouble in one cluster, as often as there are rounds."""
    rng = draw_lots(f"{seed} {engine}")
    with tempfile.TemporaryDirectory() as folder, Own() as own, FrailNodes(engine, rng) as nodes:
        place = Place(Path(folder), nodes, own.server("rabbitmq"), rng)
        with place.setting:
            place.begin()
            for trouble in troubles * rounds:
                outcome = try_trouble(place, trouble)
                print(outcome.row(), *outcome.wrong[:8], sep="\n    ", flush=True)
                yield outcome


def lines(before: Sequence[str], outcomes: Sequence[Outcome], mark: str) -> Iterator[str]:
    """Write the results, and those of other troubles as they were."""
    rows: list[str] = []
    faults: list[str] = []
    for trouble in TROUBLES:
        tried = [each for each in outcomes if each.trouble == trouble]
        rows += [f"{each.row()} {mark} |" for each in tried] or begin_with(before, f"| {trouble} |")
        told = [f"- {trouble}: {fault}" for each in tried for fault in each.wrong[:20]]
        faults += told if tried else begin_with(before, f"- {trouble}: ")
    broken = sum(int(row.split("|")[BROKEN]) for row in rows)
    yield f"{PLAN} {len(rows)} trials, {broken} laws broken; seed and commit are those of each trial."
    yield ""
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|{'---|' * len(HEADINGS)}"
    yield from rows
    if faults:
        yield ""
    yield from faults


def begin_with(lines: Sequence[str], start: str) -> list[str]:
    return [each for each in lines if each.startswith(start)]


def main() -> None:
    parser = options(__doc__, write=False)
    parser.add_argument("--engine", choices=tuple(NODE), default="opensearch", help="whose nodes")
    parser.add_argument("--rounds", type=int, default=1, help="how often each trouble comes")
    parser.add_argument("--seed", type=int, default=1, help="decides everything but the moments")
    parser.add_argument("--only", default="", help="troubles that match this expression alone")
    arguments = parser.parse_args()
    chosen = [name for name in TROUBLES if re.search(arguments.only, name)]
    outcomes, order = [], list(NAMES.values())
    for outcome in trials(arguments.engine, chosen, arguments.rounds, arguments.seed):
        outcomes.append(outcome)
        if arguments.write:  # after each, so that a run that is ended leaves what it has tried
            part = NAMES[arguments.engine]
            page = list(lines(measured.read_part("nodes", part), outcomes, f"{arguments.seed} | {measured.commit()}"))
            measured.write_part("nodes", "Three nodes in trouble", order, part, page)
    if any(each.wrong for each in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
