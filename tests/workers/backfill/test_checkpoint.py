"""An index is read in portions that stay of about one size in memory.

A checkpoint says what was handed out and what is accounted for.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine, ReindexSource, SourceDocument
from ibidem_engines.stored_groups import Name, SeqNoRange, ShardRef, marks_as_record, parse_marks
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.backfill import checkpoint as module
from ibidem_workers.backfill.checkpoint import (
    CHARACTERS,
    FIRST_BATCH,
    PAGE,
    Checkpoint,
    OpenPage,
    Portions,
    all_writes,
    interleave,
    load_checkpoint,
    names,
    paginate,
    read_all,
    read_ranges,
)
from ibidem_workers.batches import NO_RESULT, BatchResult
from ibidem_workers.ingest import ingest_documents

NAMES = [Name("news", f"d{at}", at + 1) for at in range(2_000)]


@given(st.lists(st.lists(st.integers(0, 10_000_000), max_size=5), max_size=5), st.integers(0, 2_000))
def test_every_name_is_in_one_portion_whatever_the_lengths_were(lengths: list[list[int]], count: int) -> None:
    portions = Portions()
    for batch in lengths:
        portions.learn(batch)
    cut = list(portions.cut(NAMES[:count]))
    assert [name for batch in cut for name in batch] == NAMES[:count]
    assert all(1 <= len(batch) <= PAGE for batch in cut)


def test_long_documents_are_read_one_by_one_and_short_ones_a_page_at_once() -> None:
    portions = Portions()
    assert len(next(portions.cut(NAMES))) == FIRST_BATCH
    portions.learn([2 * CHARACTERS])
    assert len(next(portions.cut(NAMES))) == 1
    portions.learn([10] * 20)
    assert len(next(portions.cut(NAMES))) == PAGE


@pytest.mark.slow
def test_everything_is_read_once_in_the_order_of_writing(settings: Settings, engine: Engine) -> None:
    ingest_documents(
        [Document(f"d{at:04}", f"We the People {at}") for at in range(1_200)], settings.changed(concurrency=1)
    )
    source = open_reindex_source(settings.address, settings.index)
    end = source.newest()
    ids = [each.document.id for batch in read_all(source, end) for each in batch]
    assert len(ids) == len(set(ids)) == 1_200
    (seq_range,) = all_writes(end)
    assert [name.id for page in paginate(names(source, seq_range)) for name in page] == ids
    source.close()


PART = ShardRef("news", 1)


class SevenDocuments:
    """An index of seven documents, of which it notes how many were read at once."""

    def __init__(self, characters: int = 0, raw: int = 0) -> None:
        self._document = Document("d", "x" * characters)
        self._raw = b"x" * raw
        self.read_at_once: list[int] = []

    def source(self) -> ReindexSource:
        return cast("ReindexSource", self)

    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        assert (seq_range.part, size) == (PART, module.PAGE)
        orders = range(seq_range.after + 1, min(seq_range.end, 7) + 1)
        return [Name("news", f"d{order}", order) for order in orders[:size]]

    def read(self, names: Sequence[Name], *, raw: bool) -> list[SourceDocument]:
        self.read_at_once.append(len(names))
        return [
            SourceDocument(name, self._document, "", 0, "", "", "", b"", (0, 0), name.order, raw=self._raw * raw)
            for name in names
        ]


@pytest.mark.parametrize("page", [1, 2, 3, 6, 7, 8])
@pytest.mark.parametrize(("after", "end"), [(0, 7), (0, 6), (2, 9), (3, 6), (7, 7)])
def test_in_pages_of_any_size_each_document_of_a_range_is_named_once(
    monkeypatch: pytest.MonkeyPatch, page: int, after: int, end: int
) -> None:
    monkeypatch.setattr(module, "PAGE", page)
    found = list(names(SevenDocuments().source(), SeqNoRange(PART, after, end)))
    assert [name.order for name in found] == list(range(after + 1, min(end, 7) + 1))
    pages = list(paginate(found))
    assert [name for some in pages for name in some] == found
    assert [len(some) for some in pages[:-1]] == [page] * (len(pages) - 1)
    assert all(1 <= len(some) <= page for some in pages)


@pytest.mark.parametrize(
    ("characters", "raw_characters", "reads_raw", "at_once"),
    [
        (CHARACTERS // 3, 0, False, [1, 3, 2, 2]),
        (CHARACTERS // 3, CHARACTERS // 2, True, [1, 2, 2, 1, 2]),
        (CHARACTERS // 3, CHARACTERS // 2, False, [1, 3, 2, 2]),
        (CHARACTERS // 2, CHARACTERS // 3, True, [1, 2, 2, 1, 2]),
        (0, 0, False, [1, 5, 2]),
        (2 * CHARACTERS, 0, False, [1] * 8),
    ],
)
def test_as_many_documents_are_read_at_once_as_those_before_were_short(
    monkeypatch: pytest.MonkeyPatch, characters: int, raw_characters: int, reads_raw: bool, at_once: list[int]
) -> None:
    monkeypatch.setattr(module, "FIRST_BATCH", 1)
    documents = SevenDocuments(characters, raw_characters)
    ranges = [SeqNoRange(PART, 1, 7), SeqNoRange(PART, 0, 2)]
    found = [each for some in read_ranges(documents.source(), ranges, raw=reads_raw) for each in some]
    assert [each.order for each in found] == [2, 3, 4, 5, 6, 7, 1, 2]
    assert all(bool(each.raw) == reads_raw for each in found)
    assert documents.read_at_once == at_once


def test_all_writes_of_each_part_are_read_without_their_json() -> None:
    documents = SevenDocuments(10, 10)
    assert all_writes({PART: 5, ShardRef("news", 2): 3}) == [
        SeqNoRange(PART, 0, 5),
        SeqNoRange(ShardRef("news", 2), 0, 3),
    ]
    read = [each for some in read_all(documents.source(), {PART: 5}) for each in some]
    assert [(each.order, each.raw) for each in read] == [(order, b"") for order in range(1, 6)]


@pytest.mark.parametrize(
    ("sources", "taken"), [(["abc", "x", "yz"], "axybzc"), (["", "ab"], "ab"), ([], ""), (["a"], "a")]
)
def test_one_of_each_source_is_taken_in_turn_until_all_are_exhausted(sources: Sequence[str], taken: str) -> None:
    assert "".join(interleave(map(iter, sources))) == taken


def test_a_page_that_was_handed_out_is_open_until_it_is_accounted_for() -> None:
    checkpoint = Checkpoint("r", 0.0, "news", upto=marks_as_record({PART: 30}))
    first = checkpoint.hand_out(SeqNoRange(PART, 0, 10), 7)
    second = checkpoint.hand_out(SeqNoRange(PART, 10, 20), 5)
    assert (first.number, second.number, checkpoint.seq_range(PART)) == (0, 1, SeqNoRange(PART, 20, 30))
    checkpoint.settle(first.number, 7)
    assert ([page.number for page in checkpoint.pages], checkpoint.documents) == ([1], 7)
    assert checkpoint.pages[0].seq_range == SeqNoRange(PART, 10, 20)
    third = checkpoint.hand_out(SeqNoRange(PART, 20, 30), 3)
    checkpoint.settle(second.number, 5)
    assert (third.number, checkpoint.pages, checkpoint.documents) == (2, [third], 12)
    assert checkpoint.seq_range(ShardRef("other")) == SeqNoRange(ShardRef("other"), 0, 0)


def test_the_progress_of_an_index_that_is_gone_or_was_made_again_is_forgotten() -> None:
    parts = [ShardRef(name) for name in ("kept", "again", "gone")]
    marks = marks_as_record(dict.fromkeys(parts, 9))
    uuids = {"kept": "1", "again": "2", "gone": "3"}
    checkpoint = Checkpoint("r", 0.0, "news", done=dict(marks), upto=dict(marks), uuids=uuids)
    for part in parts:
        checkpoint.hand_out(SeqNoRange(part, 0, 9), 1)
    now = {"kept": "1", "again": "another", "new": "4"}
    checkpoint.keep_indexes(now)
    assert (checkpoint.done, checkpoint.upto, checkpoint.uuids) == ({"kept/0": 9}, {"kept/0": 9}, now)
    assert [page.part for page in checkpoint.pages] == ["kept/0"]


def test_the_accounts_of_a_follower_add_up_under_one_number() -> None:
    checkpoint = Checkpoint("r", 0.0, "news")
    checkpoint.begin_following()
    assert BatchResult.from_json(checkpoint.followed) == NO_RESULT
    refusal = Refusal("news", "d3", "text", "it is empty")
    accounts = [BatchResult(indexed=2, at=1.0), BatchResult(unchanged=1, refusals=[refusal], at=2.0)]
    for account in accounts:
        page = checkpoint.hand_out(SeqNoRange(PART, 0, 10), 2)
        assert page.number == 0
        checkpoint.fold(page.number, account)
    checkpoint.begin_following()
    assert BatchResult.from_json(checkpoint.followed) == accounts[0] + accounts[1]
    assert (checkpoint.pages, checkpoint.documents, checkpoint.number) == ([], 4, 0)
    first = Checkpoint("r", 0.0, "news", number=7)
    first.fold(first.hand_out(SeqNoRange(PART, 0, 10), 2).number, accounts[0])
    assert (BatchResult.from_json(first.followed), first.number) == (accounts[0], 7)


def test_what_was_noted_is_read_again(engine: Engine) -> None:
    assert load_checkpoint(engine) is None
    checkpoint = Checkpoint(
        "r", 0.0, "news", tables={"en": "00"}, marks=marks_as_record({PART: 3}), state="swapped", alias="news"
    )
    checkpoint.hand_out(SeqNoRange(PART, 0, 10), 7)
    engine.put_records("runs", {checkpoint.key: checkpoint.as_json()})
    assert load_checkpoint(engine) == checkpoint
    assert load_checkpoint(engine, "other") is None
    assert parse_marks(checkpoint.marks) == {PART: 3}


@pytest.mark.parametrize(
    "change",
    [{"done": {"news": 1}}, {"upto": {"news": 1}}, {"marks": {"news": 1}}, {"pages": [OpenPage(0, "p", 0, 1, 1)]}],
)
def test_a_damaged_checkpoint_is_none(engine: Engine, change: dict[str, Any]) -> None:
    checkpoint = Checkpoint("r", 0.0, "news", into="copy")
    assert checkpoint.key == "backfill/copy"
    for each, expected in ((checkpoint, checkpoint), (replace(checkpoint, **change), None)):
        engine.put_records("runs", {each.key: each.as_json()})
        assert load_checkpoint(engine, "copy") == expected


def test_another_table_of_a_language_in_use_signs_otherwise_and_a_new_language_does_not(
    tables_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(tables_folder, tmp_path / "tables")
    tables = Tables(tmp_path / "tables")
    checkpoint = Checkpoint("r", 0.0, "news", tables=dict(tables.current()))
    tables.use(Table.build("la", 9_000, {"populus": 10.0}, "Latin"))
    assert checkpoint.signs_alike(tables)
    tables.use(Table.build("en", 9_000, {"people": 10.0}, "another"))
    assert not checkpoint.signs_alike(tables)
    assert not Checkpoint("r", 0.0, "news", schema="0").signs_alike(tables)
