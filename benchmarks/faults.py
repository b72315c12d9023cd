"""Kill workers, commands, brokers, engines, nodes and networks in many rounds, and mix bad documents into good ones.

    python benchmarks/faults.py --rounds 200 --seed 1 [--minutes M] [--nodes 3 --engine E] [--good 100000 --bad 10000]
        [--write]

A round is the one of `tests/faults/round.py`: a file is submitted, something is killed at a random moment, comes back,
and then every document must be in the index once, in its newest version, the account must add up, nothing may be
pending and no letter dead. The seed decides which file is submitted, which process is killed, when, and for how long it
is away. Servers are started here, as the tests start them; `--minutes` ends the rounds early.

In a cluster of three nodes, of OpenSearch or of the engine that `--engine` names, the node with the primary shard is
lost in the middle of an ingest, `--nodes` times. The invariants must hold while it is away, and again when it is back.

Bad documents go into SQLite; every good one must be indexed, and every bad one listed with its
place and reason.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import measured
from benchmark import draw_lots, options
from faults.bad_documents import Mixed, mixed, taken_in
from faults.environment import Broker, EngineName, Own, Setting, Victim, of_our_own
from faults.nodes import Loss, cluster_setting, lose
from faults.round import Played, Round, play, warm_up
from servers.network import KINDS, Trouble
from servers.nodes import NODE, Nodes
from servers.nodes import EngineName as Clustered

# Share of a hundred rounds; rounds that wait for a search engine to start again take many times as long.
PAIRS: dict[tuple[Broker, EngineName], int] = {
    ("redis", "opensearch"): 3,
    ("redis", "sqlite"): 36,
    ("rabbitmq", "opensearch"): 3,
    ("rabbitmq", "sqlite"): 32,
    ("none", "opensearch"): 2,
    ("none", "sqlite"): 21,
    ("redis", "elasticsearch"): 2,
    ("rabbitmq", "elasticsearch"): 1,
}

DOCUMENTS = {"sqlite": 60, "opensearch": 24, "elasticsearch": 24}


@dataclass
class Rounds:
    """Results of the rounds of one pair of broker and engine."""

    name: str
    played: list[tuple[Round, Played]] = field(default_factory=list)

    def row(self) -> str:
        victims = Counter(round_.victim for round_, _ in self.played)
        deaths = ", ".join(f"{name} {count}" for name, count in sorted(victims.items(), key=str))
        repeats = sum(results.attempts > 1 for _, results in self.played)
        documents = sum(round_.documents for round_, _ in self.played)
        other = len(self.wrong()) - self.count("lost") - self.count("times")
        cells = (
            self.name,
            len(self.played),
            deaths,
            repeats,
            f"{documents:,}",
            self.count("lost"),
            self.count("times"),
            other,
        )
        return f"| {' | '.join(map(str, cells))} |"

    def wrong(self) -> list[str]:
        return [each for _, results in self.played for each in results.wrong]

    def count(self, word: str) -> int:
        return sum(word in each for each in self.wrong())


def pairs(rounds: int) -> Iterator[tuple[Broker, EngineName, int]]:
    remaining, shares = rounds, sum(PAIRS.values())
    for (broker, engine), share in PAIRS.items():
        count = min(remaining, -(-rounds * share // shares))
        remaining -= count
        if count:
            yield broker, engine, count


def one_round(setting: Setting, rng: random.Random, victim: Victim, documents: int) -> tuple[Round, Played]:
    """Play a round and print it; a round that does not end breaks an invariant."""
    for where, breakable in setting.breakable.items():
        if isinstance(breakable, Trouble):
            setting.breakable[where] = Trouble(breakable.network, rng.choice(KINDS))
    round_ = Round.drawn(rng, victim, documents)
    try:
        results = play(setting, round_)
    except (subprocess.TimeoutExpired, OSError) as error:
        results = Played(
            [f"the round did not come to its end: {error}"], killed=True, attempts=1, recognised=0, seconds=0
        )
    print(f"  {victim} after {round_.after:.2f}: {results.seconds:.1f} s", *results.wrong[:5], sep="; ", flush=True)
    return round_, results


def play_rounds(servers: Own, count: int, pair: tuple[Broker, EngineName], seed: int, deadline: float) -> Rounds:
    broker, engine = pair
    rng = draw_lots(f"{seed} {broker} {engine}")
    rounds = Rounds(f"{broker} to {engine}")
    with (
        tempfile.TemporaryDirectory() as folder,
        of_our_own(servers, Path(folder), broker, engine, rng, networks=True) as setting,
    ):
        print(f"{rounds.name}: {count} rounds, seed {seed}", *warm_up(setting, DOCUMENTS[engine]).wrong, flush=True)
        victims = setting.victims
        for number in range(count):
            if time.monotonic() > deadline:
                break
            victim = victims[(number + seed) % len(victims)]
            rounds.played.append(one_round(setting, rng, victim, DOCUMENTS[engine]))
    return rounds


def losses(count: int, seed: int, engine: Clustered) -> Iterator[Loss]:
    """Lose a node of a cluster again and again, each time one that may hold shards recovered from the others."""
    if not count:
        return
    rng = draw_lots(f"{seed} nodes")
    with (
        tempfile.TemporaryDirectory() as folder,
        Nodes(engine) as nodes,
        cluster_setting(nodes, Path(folder), rng) as setting,
    ):
        for _ in range(count):
            loss = lose(nodes, setting)
            print(f"  {loss.row()}", *loss.wrong[:5], sep="; ", flush=True)
            yield loss


def lost_nodes(deaths: Sequence[Loss], engine: Clustered) -> Iterator[str]:
    """Write the results of the losses of nodes."""
    if not deaths:
        return
    breaches = [each for loss in deaths for each in loss.wrong]
    yield from ("## Lost nodes", "")
    name = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}[engine]
    yield f"Of three nodes of {name}, the one with the primary shard was killed {len(deaths)} times under an ingest:"
    yield f"{len(breaches)} laws broken while it was away and once it was back."
    yield from ("", "| node | accounted for before | after | laws broken | seconds |", "|---|---|---|---|---|")
    yield from (*(loss.row() for loss in deaths), "")


def page(
    seed: int, played_rounds: Sequence[Rounds], nodes: Sequence[Loss], engine: Clustered, mixture: Mixed | None
) -> Iterator[str]:
    results = sum(len(each.played) for each in played_rounds)
    if results:
        gaps, twice = (sum(each.count(word) for each in played_rounds) for word in ("lost", "times"))
        breaches = sum(len(each.wrong()) for each in played_rounds)
        yield "## Rounds of killing"
        yield ""
        yield f"{results} rounds with seed {seed}: {gaps} documents lost, {twice} there twice, {breaches} laws broken."
        yield "A round submits documents, kills something at a random moment, brings it back, gives the command again"
        yield "where it was ended, and looks at every document. A network is cut, hung or slowed."
        yield ""
        yield "| queue and index | rounds | killed | command given again | documents submitted | lost | twice | other |"
        yield "|---|---|---|---|---|---|---|---|"
        yield from (each.row() for each in played_rounds)
        yield ""
    yield from lost_nodes(nodes, engine)
    if mixture is not None:
        yield from ("## Bad documents among good ones", "", *mixture.lines(), "")


def main() -> None:
    parser = options(__doc__, write=False)
    parser.add_argument("--rounds", type=int, default=200, help="how many rounds; 0 for none")
    parser.add_argument("--seed", type=int, default=1, help="decides everything but how quick the machine is")
    parser.add_argument("--minutes", type=float, default=600.0, help="after which no further round begins")
    parser.add_argument("--nodes", type=int, default=3, help="how often a node is lost; 0 for never")
    parser.add_argument("--engine", choices=tuple(NODE), default="opensearch", help="whose node is lost")
    parser.add_argument("--good", type=int, default=100_000, help="good documents; 0 for none")
    parser.add_argument("--bad", type=int, default=10_000, help="bad documents among them")
    arguments = parser.parse_args()
    mixture, lots = None, draw_lots(arguments.seed)
    if arguments.good:
        with tempfile.TemporaryDirectory() as folder:
            mixture = taken_in(Path(folder), mixed(lots, arguments.good, arguments.bad))
            print(*mixture.lines(), sep="\n", flush=True)
    deadline, rounds = time.monotonic() + 60 * arguments.minutes, []
    for broker, engine, count in pairs(arguments.rounds):
        if time.monotonic() < deadline:
            with Own() as servers:
                rounds.append(play_rounds(servers, count, (broker, engine), arguments.seed, deadline))
    node_losses = list(losses(arguments.nodes, arguments.seed, arguments.engine))
    lines = list(page(arguments.seed, rounds, node_losses, arguments.engine, mixture))
    print(*lines, sep="\n")
    if arguments.write:
        measured.write("faults", "Killed processes and bad documents", lines)
    if (
        any(each.wrong() for each in rounds)
        or any(loss.wrong for loss in node_losses)
        or (mixture is not None and mixture.wrong)
    ):
        sys.exit(1)


if __name__ == "__main__":
    main()
