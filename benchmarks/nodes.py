"""Trouble in a cluster of three nodes with the plugin, and in RabbitMQ, under ingest, deletions and searches.

    python benchmarks/nodes.py [--engine opensearch] [--rounds 1] [--seed 1] [--only EXPRESSION] [--write]

Each fault of `tests/nodes/trials.py` begins in the middle of an ingest through RabbitMQ and two workers, and ends after
every timeout has passed. Then the index is compared with a history of what was acknowledged in the meantime: documents,
deletions (whose documents are submitted once more and must not come back), decisions, stored groups (their laws, and
one plain pass) and counts. Searches by the plugin run at each node: every answer must be whole, or an error.
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
from nodes.trials import TROUBLES, Outcome, Place, try_trouble
from servers.nodes import NODE, EngineName

NAMES = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}


def trials(engine: EngineName, troubles: Sequence[str], rounds: int, seed: int) -> Iterator[Outcome]:
    """Try each trouble in one cluster, as often as there are rounds."""
    rng = draw_lots(f"{seed} {engine}")
    with tempfile.TemporaryDirectory() as folder, Own() as own, FrailNodes(engine, rng) as nodes:
        place = Place(Path(folder), nodes, own.server("rabbitmq"), rng)
        with place.setting:
            for trouble in troubles * rounds:
                outcome = try_trouble(place, trouble)
                print(outcome.row(), *outcome.wrong[:8], sep="\n    ", flush=True)
                yield outcome


def lines(engine: EngineName, outcomes: Sequence[Outcome], seed: int) -> Iterator[str]:
    """Write the results."""
    broken = sum(len(each.wrong) for each in outcomes)
    yield f"{len(outcomes)} trials of {NAMES[engine]} with seed {seed}: {broken} laws broken."
    yield "Searches that failed did so while nodes were away; no answer was a part of one."
    yield ""
    yield "| trouble | documents | command given | acknowledged meanwhile | searches whole | failed | laws broken | s |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from (each.row() for each in outcomes)
    yield from (f"- {each.trouble}: {fault}" for each in outcomes for fault in each.wrong[:20])


def main() -> None:
    """Try, and write."""
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
            page = list(lines(arguments.engine, outcomes, arguments.seed))
            measured.write_part("nodes", "Three nodes in trouble", order, NAMES[arguments.engine], page)
    if any(each.wrong for each in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
