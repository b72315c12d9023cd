"""One document that cannot be signed harms no other, and every document is accounted for."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem_core.errors import Permanent
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Signed
from ibidem_engines.stored_groups import all_writes
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill import batch as pages
from ibidem_workers.backfill.batch import ROUNDS, BackfillBatch, BackfillContext, Portions, names, sign_batch
from ibidem_workers.backfill.run import open_for_backfill
from servers.fake_server import Answer, Request, between
from workers.backfill.conftest import FIRST, Theirs, story
from workers.conftest import OTHER, fill

BUSY = Answer(429, {"error": {"type": "es_rejected_execution_exception", "reason": "queue is full"}, "status": 429})


@pytest.fixture
def context(settings: Settings, engine: Engine) -> BackfillContext:
    """A context before an index of ten documents."""
    fill([Document(f"d{at}", story(at)["body"]["content"]) for at in range(10)], settings)
    source = open_engine(settings.address, settings.index).reindex_source()
    return BackfillContext(engine, Tables(settings.tables), settings, source=source)


def make_batch(context: BackfillContext, **changes: object) -> BackfillBatch:
    all_names = [name for each in all_writes(context.source.newest()) for name in names(context.source, each)]
    return BackfillBatch("by-hand", 0, all_names, **changes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_document_that_the_kernels_fail_on_is_refused_and_the_others_are_done(
    context: BackfillContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = pages.is_current

    def fail(document: pages.SourceDocument, tables: Tables) -> bool:
        if document.name.id == "d4":
            raise ZeroDivisionError("division by zero")
        return right(document, tables)

    monkeypatch.setattr(pages, "is_current", fail)
    account = sign_batch(context, make_batch(context))[0]
    assert account.unchanged == 9
    assert [(refusal.id, refusal.why) for refusal in account.refusals] == [
        ("d4", "ZeroDivisionError: division by zero")
    ]


@pytest.mark.slow
def test_an_engine_that_takes_nothing_more_ends_it(context: BackfillContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> bool:
        raise Permanent("the disk is full")

    monkeypatch.setattr(pages, "is_current", full)
    with pytest.raises(Permanent, match="the disk is full"):
        sign_batch(context, make_batch(context))
    assert not list(context.engine.get_records("runs", "by-hand/"))


@pytest.mark.slow
def test_a_document_that_others_change_all_the_time_is_given_up(
    context: BackfillContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = []

    def never(documents: Sequence[Signed]) -> list[None]:
        turns.append(len(documents))
        return [None] * len(documents)

    monkeypatch.setattr(pages, "is_current", lambda *_: False)
    monkeypatch.setattr(context.source, "sign", never)
    account = sign_batch(context, make_batch(context))[0]
    assert turns == [10] * ROUNDS
    assert {refusal.why for refusal in account.refusals} == {"other writers keep changing it; try again"}


@pytest.mark.slow
def test_what_a_killed_process_had_under_way_counts_as_written_when_its_page_is_signed_again(
    context: BackfillContext, tmp_path: Path
) -> None:
    tables = Tables(tmp_path)
    tables.use(OTHER)
    context = replace(context, tables=tables)
    page = make_batch(context)
    sign_batch(context, replace(page, names=page.names[:4]))
    account = sign_batch(context, replace(page, before=3, is_resumed=True))[0]
    assert (account.indexed, account.unchanged) == (13, 0)
    account = sign_batch(context, replace(make_batch(context), is_resumed=True))[0]
    assert (account.indexed, account.unchanged) == (0, 10)


def test_portions_of_a_page_are_written_at_the_same_time_and_counted_once(theirs: Theirs) -> None:
    together, lock, left = threading.Barrier(4), threading.Lock(), [4]

    def plan(request: Request) -> Answer | None:
        """Let four writes go on once all of them are under way, and reject the one after them."""
        if b'"if_seq_no"' not in request.body:
            return None
        with lock:
            left[0] -= 1
            turn = left[0]
        if turn >= 0:
            together.wait(20)
        return BUSY if turn == -1 else None

    theirs.make(shards=1)
    theirs.write({f"t{at}": story(at) for at in range(40)}, FIRST)
    with between(theirs.address, plan) as server:
        address = server.address(theirs.address.partition("+")[0])
        there = theirs.settings.changed(engine=address, index=FIRST, patience=30)
        with open_for_backfill(there) as (engine, source):
            source.prepare()
            context = BackfillContext(engine, Tables(there.tables), there, source=source, portions=Portions(4, 100_000))
            outcome = sign_batch(context, make_batch(context))
            outcome_again = sign_batch(context, replace(make_batch(context), number=1))
    assert (outcome[0].indexed, len(set(outcome[1])), outcome[0].documents) == (40, len(outcome[1]), 40)
    assert (outcome_again[0].unchanged, outcome_again[0].documents) == (40, 40)
    assert left[0] < -1, "none was rejected"
