"""A damaged record is left out and named, and stops nothing that is read."""

import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.index.doctor import damaged_records, reader
from ibidem_core.errors import DamagedRecord
from ibidem_dedupe.overrides import Override, pair_key
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import Tombstone, check_entry, load_overrides, read_ledger
from ibidem_engines.stored_groups import Ledger

GOOD = Override(("news", "a"), ("news", "b"), "not", "Ada").as_record()
BAD: dict[str, Any] = {
    "no object": [1],
    "a text": "same",
    "nothing": None,
    "no fields": {},
    "no pair": GOOD | {"a": "news"},
    pair_key([("news", "a"), ("news", "a")]): GOOD | {"b": GOOD["a"]},
    pair_key([("news", "a"), ("news", "c")]): GOOD | {"b": ["news", "c"], "verdict": "perhaps"},
    pair_key([("news", "a"), ("news", "d")]): GOOD | {"b": ["news", "d"], "author": 7},
}


class TestDamaged:
    def test_damaged_records_are_left_out_and_each_is_named(self, engine: Engine) -> None:
        engine.put_records("overrides", {"good": GOOD, **BAD})
        assert [word.as_record() for word in load_overrides(engine)] == [GOOD]
        assert {each.key for each in damaged_records(engine)} == set(BAD)

    def test_a_record_that_is_no_json_is_left_out(self, engine: Engine, tmp_path: Path) -> None:
        engine.put_records("overrides", {"good": GOOD, "bad": GOOD | {"a": ["news", "z"]}})
        with closing(sqlite3.connect(tmp_path / "index.sqlite")) as file, file:
            file.execute("""update "ibidem.news.ledger" set entry = '{"a": [' where key like '%bad%'""")
        assert len(load_overrides(engine)) == 1


@given(
    st.sampled_from(("runs", "dead", "tombstones", "overrides", "presets", "groups")),
    st.sampled_from(("run/a", "backfill/", "groups/lease", "a/0001", "a/refused/01", "saved:x", "reported:x:1")),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=8,
    ),
)
def test_whatever_another_program_writes_a_reader_takes_it_or_says_that_it_is_damaged(
    ledger: Ledger, key: str, entry: Any
) -> None:
    with suppress(DamagedRecord):
        check_entry(entry, reader(ledger, key))


@pytest.mark.parametrize("at", ["2026-01-05", "2026-01-05T10:00:00", "yesterday"])
def test_a_tombstone_without_a_time_that_can_be_compared_is_damaged(at: str, engine: Engine) -> None:
    now = datetime.now(UTC).isoformat()
    engine.put_records("tombstones", {"good": asdict(Tombstone(3, now)), "bad": {"version": 3, "at": at}})
    stones = dict(read_ledger(engine, "tombstones", Tombstone.from_record))
    assert list(stones) == ["good"]
    assert stones["good"].time is not None
