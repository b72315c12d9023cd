"""An index is read in portions that stay of about one size in memory.

A checkpoint says what was handed out and what is accounted for.
"""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine
from ibidem_engines.reindex import Name, SeqNoRange, ShardRef, marks_as_record, parse_marks
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.backfill.checkpoint import (
    CHARACTERS,
    FIRST,
    PAGE,
    Checkpoint,
    Portions,
    all_writes,
    load_checkpoint,
    names,
    paginate,
    read_all,
)
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
    assert len(next(portions.cut(NAMES))) == FIRST
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


def test_a_page_that_was_handed_out_is_open_until_it_is_accounted_for() -> None:
    checkpoint = Checkpoint("r", 0.0, "news", upto=marks_as_record({PART: 30}))
    first = checkpoint.hand_out(SeqNoRange(PART, 0, 10), 7)
    second = checkpoint.hand_out(SeqNoRange(PART, 10, 20), 5)
    assert (first.number, second.number, checkpoint.seq_range(PART)) == (0, 1, SeqNoRange(PART, 20, 30))
    checkpoint.settle(first.number, 7)
    assert ([page.number for page in checkpoint.pages], checkpoint.documents) == ([1], 7)
    assert checkpoint.pages[0].seq_range == SeqNoRange(PART, 10, 20)


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
