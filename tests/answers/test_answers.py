"""The answers to two thousand searches stay what they are, and a search asks a cluster no more often than it did.

`golden/` holds a line for each search: its number, a hash of its answer and, of a cluster, how many requests it took.
A change on purpose: `python -m answers.write` in `tests`, then a line in CHANGELOG that says what changed, and why.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from secrets import token_hex
from time import monotonic

import pytest
from hypothesis import settings

from answers.searches import COUNT, GOLDEN, Answers, digest, searches
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.requests import INDEX_S
from ibidem_workers.groups.follower import Follower
from servers.indices import remove_indices

# Of the searches in clusters each tenth is made; in a run with few examples of each law, so much fewer.
EVERY = 1_000 // settings.default.max_examples

SERVERS = ("opensearch", "elasticsearch")


def index(address: str, name: str, records: list[Record]) -> Engine:
    """An index that holds the stories, with their groups settled."""
    engine = open_engine(address, name)
    engine.create()
    engine.write(records)
    Follower(engine).catch_up()
    engine.refresh()
    return engine


def lines(engine: Engine, numbers: Iterable[int]) -> Iterator[str]:
    """Make some of the searches; what is remembered of an index for seconds is remembered until the last one."""
    requests = 0
    now = monotonic() + INDEX_S
    send_once = ClusterClient._send_once

    def count(*arguments: object, **options: object) -> object:
        nonlocal requests
        requests += 1
        return send_once(*arguments, **options)  # type: ignore[arg-type]

    every = list(searches())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClusterClient, "_send_once", count)
        patch.setattr("ibidem_engines.requests.monotonic", lambda: now)
        for number in numbers:
            requests = 0
            answer = digest(every[number].answer(engine), engine.index)
            yield f"{number:04} {answer} {requests}"


def check(name: str, engine: Engine, every: int) -> None:
    """Compare with what was written down, or write it down; fewer requests than were written down are no difference."""
    path = GOLDEN / f"{name}.txt"
    found = list(lines(engine, range(0, COUNT, every)))
    if Answers.writing:
        path.write_text("\n".join(found) + "\n", encoding="ascii")
    expected = {line[:17]: int(line[18:]) for line in path.read_text(encoding="ascii").splitlines()}

    def differ(answers: Iterable[str]) -> list[str]:
        return [line for line in answers if int(line[18:]) > expected.get(line[:17], -1)]

    changed = differ(lines(engine, [int(line[:4]) for line in differ(found)]))
    first = [(line, list(searches())[int(line[:4])]) for line in changed[:1]]
    assert not changed, f"{len(changed)} of {len(found)} answers changed, the first: {first}"


@pytest.mark.slow
def test_each_tenth_search_in_sqlite_has_the_answer_that_is_written_down(tmp_path: Path, records: list[Record]) -> None:
    engine = index(f"sqlite:///{tmp_path}/index.sqlite", "answers", records)
    check("sqlite", engine, 1 if Answers.writing else EVERY)
    engine.close()


@pytest.mark.slow
def test_every_search_in_sqlite_has_the_answer_that_is_written_down(tmp_path: Path, records: list[Record]) -> None:
    engine = index(f"sqlite:///{tmp_path}/index.sqlite", "answers", records)
    check("sqlite", engine, 1)
    engine.close()


@pytest.mark.parametrize("server", [pytest.param(name, marks=pytest.mark.server(name)) for name in SERVERS])
def test_each_tenth_search_in_a_cluster_has_its_answer_and_no_request_more(
    server: str, request: pytest.FixtureRequest, records: list[Record]
) -> None:
    address: str = request.getfixturevalue(server)
    name = f"answers-{token_hex(4)}"
    engine = index(address, name, records)
    try:
        check(server, engine, EVERY)
    finally:
        engine.close()
        remove_indices(address, name)
