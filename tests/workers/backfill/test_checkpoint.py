"""An index is read in portions that stay of about one size in memory.

A checkpoint says what was handed out and what is accounted for; what is between our own writes belongs to others.
"""

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Name, SeqNoRange, ShardRef, marks_as_record
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.backfill.batch import PAGE, Checkpoint, OpenPage, OwnWrites, Portions, load_checkpoint
from workers.conftest import OTHER

NAMES = [Name("news", f"d{at}", at + 1) for at in range(2_000)]


@given(st.lists(st.lists(st.integers(0, 10_000_000), max_size=5), max_size=5), st.integers(0, 2_000))
def test_every_name_is_in_one_portion_whatever_the_lengths_were(lengths: list[list[int]], count: int) -> None:
    portions = Portions()
    for batch in lengths:
        portions.learn(batch)
    cut = list(portions.cut(NAMES[:count]))
    assert [name for batch in cut for name in batch] == NAMES[:count]
    assert all(1 <= len(batch) <= PAGE for batch in cut)


PART = ShardRef("news", 1)


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


@pytest.mark.parametrize(
    "change",
    [{"done": {"news": 1}}, {"upto": {"news": 1}}, {"marks": {"news": 1}}, {"pages": [OpenPage(0, "p", 0, 1, 1)]}],
)
def test_a_damaged_checkpoint_is_none(engine: Engine, change: dict[str, Any]) -> None:
    checkpoint = Checkpoint("r", 0.0, "news", into="copy")
    for each, expected in ((checkpoint, checkpoint), (replace(checkpoint, **change), None)):
        engine.put_records("runs", {"backfill/copy": asdict(each)})
        assert load_checkpoint(engine, "copy") == expected


def test_another_table_of_a_language_in_use_signs_otherwise_and_a_new_language_does_not(own_tables: Tables) -> None:
    checkpoint = Checkpoint("r", 0.0, "news", tables=dict(own_tables.current()))
    own_tables.use(Table.build("la", 9_000, {"populus": 10.0}, "Latin"))
    assert checkpoint.signs_alike(own_tables)
    own_tables.use(OTHER)
    assert not checkpoint.signs_alike(own_tables)
    assert not Checkpoint("r", 0.0, "news", schema="0").signs_alike(own_tables)


NUMBERS = st.lists(st.integers(1, 40), max_size=30)


@example([[1, 3], [2]], 0, 5)  # between two runs
@given(st.lists(NUMBERS, max_size=4), st.integers(0, 40), st.integers(0, 40))
def test_the_gaps_are_all_that_is_not_our_own(batches: list[list[int]], start: int, upto: int) -> None:
    own_writes = OwnWrites()
    for batch in batches:
        own_writes.add(PART, batch)
    own_writes.add(ShardRef("news", 2), [start, upto])  # another part has writes of its own
    gaps = list(own_writes.gaps(SeqNoRange(PART, start, upto)))
    assert all(gap.part == PART and gap.after < gap.end for gap in gaps)
    numbers = {number for batch in batches for number in batch}
    found = [number for gap in gaps for number in range(gap.after + 1, gap.end + 1)]
    assert found == [number for number in range(start + 1, upto + 1) if number not in numbers]
