"""Match shared with workers: the groups are those of one plain pass, whoever answers, how, and when."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.errors import Unavailable
from ibidem_core.records import parse_record
from ibidem_dedupe.overrides import Overrides
from ibidem_engines.engine import Engine, Record
from ibidem_engines.group_checkpoint import POLICY, GroupCheckpoint
from ibidem_engines.stored_groups import Assignment, Marks, marks_as_record
from ibidem_workers.groups.block import Row, Rules
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.lookup_match import LookUpMatch, make_row
from ibidem_workers.groups.match_task import OPEN, MatchAnswer, MatchRequest, MatchWorker, digest
from ibidem_workers.groups.settle import Settler
from ibidem_workers.groups.shared_match import SharedMatch, verify
from support.windows import example_settings
from workers.groups.test_service import check, groups, index, plain, signed, stored


@dataclass
class Workers:
    """Workers that answer as soon as they are asked, in this process."""

    engine: Engine
    # Called with each request; returns whether a worker answers it.
    happen: Callable[[Mapping[str, Any]], bool] = lambda _: True
    requests: list[Mapping[str, Any]] = field(default_factory=list)
    answered: int = 0
    purges: int = 0

    def publish(self, requests: Sequence[Mapping[str, object]]) -> None:
        worker = MatchWorker(self.engine)
        for each in requests:
            self.requests.append(each)
            if self.happen(each):
                self.answered += worker.answer(each)

    def purge(self) -> None:
        self.purges += 1


def shared(engine: Engine, workers: Workers, size: int = 3) -> SharedMatch:
    settler = Settler(engine.groups(), Rules(POLICY, Overrides()))
    return SharedMatch(engine, settler, workers, lambda: None, size)


def catch_up(engine: Engine, workers: Workers, monkeypatch: pytest.MonkeyPatch, size: int = 3) -> None:
    """Settle all documents by look-ups, those of each block with the help of workers."""
    with monkeypatch.context() as patch:
        patch.setattr("ibidem_workers.groups.follower.LEADS_PER_DOCUMENT", -1)
        Follower(engine, size=2 * size, many=1, queue=workers).catch_up()


def spoilt(answer: dict[str, Any], rng: random.Random) -> object:
    """An answer that another program has changed."""
    ways: list[Callable[[], object]] = [
        lambda: None,
        lambda: [answer],
        lambda: answer | {"session": "another"},
        lambda: answer | {"block": answer["block"] + 1},
        lambda: answer | {"digest": "0" * 64},
        lambda: answer | {"leads": [[0, "news"]]},
        lambda: answer | {"leads": [[999, "news", "a", 1]]},
        lambda: answer | {"leads": [[-1, "news", "a", 1]]},
        lambda: answer | {"leads": [[0, "news", "nobody", 1]]},
        lambda: answer | {"leads": [*answer["leads"], *answer["leads"], [0, "other", "a", 1]]},
        lambda: answer | {"leads": [[at, index, name, order + 1] for at, index, name, order in answer["leads"]] or 7},
        lambda: {"digest": answer["digest"]},
    ]
    return rng.choice(ways)()


@pytest.mark.slow
@example_settings
@given(st.integers(0, 2**32), st.integers(1, 7), st.randoms(use_true_random=False))
def test_groups_are_those_of_one_pass_whoever_answers_and_whatever_becomes_of_an_answer(
    seed: int, size: int, rng: random.Random
) -> None:
    writes = signed(seed)
    monkeypatch = pytest.MonkeyPatch()
    with index() as engine:
        earlier: list[tuple[str, Any]] = []

        def happen(request: Mapping[str, Any]) -> bool:
            key = f"{OPEN}/{request['part']}"
            if rng.random() < 0.3:
                return False
            if rng.random() < 0.5:
                MatchWorker(engine).answer(request)
                answer = engine.get_record("runs", key)
                if isinstance(answer, dict) and rng.random() < 0.7:
                    earlier.append((key, answer))
                    engine.put_records("runs", {key: spoilt(answer, rng)})  # type: ignore[dict-item] # as others may
                elif earlier:
                    engine.put_records("runs", dict([rng.choice(earlier)]))
                return False
            return True

        workers = Workers(engine, happen)
        while writes:
            some, writes = writes[: (cut := rng.randrange(1, 20))], writes[cut:]
            engine.write(some)
            if rng.random() < 0.7:
                catch_up(engine, workers, monkeypatch, size)
        catch_up(engine, workers, monkeypatch, size)
        assert groups(engine) == plain(engine)
        assert sum(GroupCheckpoint.read(engine).joined.values()) == sum(not each.lead for each in stored(engine))


@pytest.mark.slow
def test_workers_match_every_part_where_they_answer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with index() as engine:
        records = signed(5)
        engine.write(records[:12])
        catch_up(engine, Workers(engine), monkeypatch)
        engine.write(records[12:])
        workers = Workers(engine)
        looked_up: list[int] = []
        first_leads = LookUpMatch.first_leads

        def spy(self: LookUpMatch, rows: Sequence[Any]) -> Any:
            looked_up.append(len(rows))
            return first_leads(self, rows)

        with monkeypatch.context() as patch:
            patch.setattr(LookUpMatch, "first_leads", spy)
            catch_up(engine, workers, monkeypatch)
        assert workers.answered == len(workers.requests) == -(-len(records[12:]) // 3)
        assert sum(looked_up) == len(records[12:])  # by workers alone: who settles looked nothing up
        assert workers.purges == 0
        assert groups(engine) == plain(engine)
        assert not [key for key, _ in engine.get_records("runs", OPEN)]


def test_a_queue_that_takes_no_requests_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(Workers):
        def publish(self, requests: Sequence[Mapping[str, object]]) -> None:
            super().publish(requests)
            raise Unavailable("the broker does not answer", "start it")

    with index() as engine:
        engine.write(signed(5))
        workers = Refusing(engine, lambda _: False)
        settled = shared(engine, workers)
        rows = [make_row(each) for each in stored(engine)]
        expected = settled.settler.rules.joins([], rows)
        assert settled(rows, {}) == settled(rows, {}) == expected
        assert {request["block"] for request in workers.requests} == {1}


def test_after_a_block_that_nobody_answered_one_part_is_asked_for_and_what_was_asked_is_taken_back() -> None:
    with index() as engine:
        engine.write(signed(5))
        workers = Workers(engine, lambda _: False)
        settled = shared(engine, workers)
        rows = [make_row(each) for each in stored(engine)]
        marks = dict.fromkeys(engine.groups().parts(), 0)
        parts = -(-len(rows) // 3)
        settled(rows, marks)
        settled(rows, marks)
        assert [request["part"] for request in workers.requests] == [*range(parts), 0]
        assert workers.purges == 2
        workers.happen = lambda _: True
        settled(rows, marks)
        settled(rows, marks)
        assert [request["part"] for request in workers.requests][parts + 1 :] == [0, *range(parts)]


def test_a_lead_that_vanishes_after_a_worker_has_found_it_is_joined_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    first, copy, other = (replace(each, document=replace(each.document, id=name)) for each, name in copies())
    with index() as engine:
        engine.write([first])
        catch_up(engine, Workers(engine), monkeypatch)
        engine.write([copy, other])

        def vanish(request: Mapping[str, Any]) -> bool:
            answered = MatchWorker(engine).answer(request)
            assert engine.get_record("runs", f"{OPEN}/{request['part']}")["leads"]
            if request["part"]:
                engine.delete(["first"], 10)
            return not answered

        catch_up(engine, Workers(engine, vanish), monkeypatch, size=1)
        assert groups(engine) == plain(engine)
        assert set(groups(engine)) == {"copy", "other"}
        check(engine)


def copies() -> list[tuple[Record, str]]:
    """Three copies of one text, under names of their own."""
    record = signed(5)[0]
    return [(record, name) for name in ("first", "copy", "other")]


def test_a_lead_that_joined_another_since_is_not_believed() -> None:
    with index() as engine:
        engine.write([replace(each, document=replace(each.document, id=name)) for each, name in copies()])
        store = engine.groups()
        documents = stored(engine)
        rows = [make_row(each) for each in documents]
        marks = dict.fromkeys(store.parts(), rows[1].order)
        match = LookUpMatch(store, Rules(POLICY, Overrides()), marks)
        asked = request_of(engine, rows[2:], marks)
        engine.put_records("runs", {OPEN: {"session": "s", "block": 1}})
        assert MatchWorker(engine).answer(asked)
        answer = parse_record(MatchAnswer, engine.get_record("runs", f"{OPEN}/0"))
        joins = verify(answer, rows[2:], match)
        assert joins is not None
        assert [join.lead for join in joins.values()] == [rows[0].name]
        store.assign([Assignment(documents[0], documents[1].group, lead=False)])
        assert verify(answer, rows[2:], match) is None


def request_of(engine: Engine, rows: Sequence[Row], marks: Marks) -> dict[str, Any]:
    request = MatchRequest(
        engine.index,
        "s",
        1,
        0,
        [(*row.name, row.order) for row in rows],
        digest(rows, Rules(POLICY, Overrides())),
        marks_as_record(marks),
        asdict(POLICY),
    )
    return asdict(request)


@pytest.mark.parametrize(
    "changes",
    [
        {"index": "other"},
        {"session": "another"},
        {"block": 2},
        {"digest": "of other texts, figures, decisions or another version"},
        {"names": [["news", "nobody", 1]]},
        {"marks": {"news/7": 1}},
        {"marks": {"news": 1}},
        {"policy": {"level": "nearly"}},
        {"names": "all"},
        {"index": None},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_request_that_nobody_waits_for_or_that_is_damaged_is_left_alone(changes: dict[str, object]) -> None:
    with index() as engine:
        engine.write(signed(5))
        rows = [make_row(each) for each in stored(engine)][:2]
        marks = dict.fromkeys(engine.groups().parts(), 1)
        engine.put_records("runs", {OPEN: {"session": "s", "block": 1}})
        worker = MatchWorker(engine)
        assert not worker.answer(request_of(engine, rows, marks) | changes)
        assert engine.get_record("runs", f"{OPEN}/0") is None
        assert worker.answer(request_of(engine, rows, marks))


def test_leads_are_looked_up_where_memory_does_not_hold_what_lies_beside_their_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with index() as engine:
        engine.write(signed(5))
        workers = Workers(engine)
        monkeypatch.setattr("ibidem_workers.groups.follower.HELD_BYTES", 1 << 60)
        Follower(engine, size=4, many=1, queue=workers).catch_up()
        assert workers.answered
        assert groups(engine) == plain(engine)
