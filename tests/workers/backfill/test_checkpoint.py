"""A checkpoint says what was handed out and what is accounted for."""

import shutil
from pathlib import Path

from ibidem_engines.engine import Engine
from ibidem_engines.reindex import SeqNoRange, ShardRef
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.backfill.checkpoint import Checkpoint, by_part, load_checkpoint, parsed

PART = ShardRef("news", 1)


def test_a_page_that_was_handed_out_is_open_until_it_is_accounted_for() -> None:
    one = Checkpoint("r", 0.0, "news", upto=by_part({PART: 30}))
    first = one.hand_out(SeqNoRange(PART, 0, 10), 7)
    second = one.hand_out(SeqNoRange(PART, 10, 20), 5)
    assert (first.number, second.number, one.stretch(PART)) == (0, 1, SeqNoRange(PART, 20, 30))
    one.settle(first.number, 7)
    assert ([page.number for page in one.pages], one.documents) == ([1], 7)
    assert one.pages[0].stretch == SeqNoRange(PART, 10, 20)


def test_what_was_noted_is_read_again(engine: Engine) -> None:
    assert load_checkpoint(engine) is None
    one = Checkpoint("r", 0.0, "news", tables={"en": "00"}, marks=by_part({PART: 3}), state="swapped", alias="news")
    one.hand_out(SeqNoRange(PART, 0, 10), 7)
    engine.put_records("runs", {one.key: one.as_json()})
    assert load_checkpoint(engine) == one
    assert load_checkpoint(engine, "other") is None
    assert parsed(one.marks) == {PART: 3}


def test_another_table_of_a_language_in_use_signs_otherwise_and_a_new_language_does_not(
    tables_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(tables_folder, tmp_path / "tables")
    tables = Tables(tmp_path / "tables")
    one = Checkpoint("r", 0.0, "news", tables=dict(tables.current()))
    tables.use(Table.of("la", 9_000, {"populus": 10.0}, "Latin"))
    assert one.signs_alike(tables)
    tables.use(Table.of("en", 9_000, {"people": 10.0}, "another"))
    assert not one.signs_alike(tables)
    assert not Checkpoint("r", 0.0, "news", schema="0").signs_alike(tables)
