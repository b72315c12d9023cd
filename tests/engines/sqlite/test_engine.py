"""The embedded engine promises more than the contract: one file for many processes, exact look-ups, damage named."""

import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.index.doctor import damaged_records
from ibidem_core.errors import Permanent
from ibidem_dedupe.overrides import Override, pair_key
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, SignatureLookup, WriteStatus
from ibidem_engines.ledger import Tombstone, load_overrides, read_ledger
from ibidem_engines.query import parse_query
from ibidem_ingest.signatures.lookup_keys import LookupField, lookup_keys
from ibidem_ingest.signatures.schema import SCHEMA
from support.examples import examples
from support.signed_records import make_record

PROCESSES = 3
EACH = 40


@pytest.mark.parametrize("names", [("layout", "schema"), ("schema",), ("layout",)])
def test_an_index_of_another_schema_or_layout_is_neither_read_nor_written_and_info_says_that_it_is_there(
    engine: Engine, tmp_path: Path, names: tuple[str, ...]
) -> None:
    engine.write([make_record("a")])
    engine.close()
    assert engine.info().documents == 1  # a closed engine opens again
    engine.close()
    with closing(sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)) as connection:
        for name in names:
            connection.execute("""update "ibidem.news.state" set value = '0' where name = ?""", (name,))
    for _ in range(2):
        info = engine.info()
        assert (info.exists, list(info.schema), info.documents) == (True, ["0" if "schema" in names else SCHEMA], 0)
        engine.create()  # which changes nothing of it
    for use in (lambda: engine.search(parse_query("grain"), 10), lambda: engine.write([make_record("b")])):
        with pytest.raises(Permanent, match=r"'news'.*ingest its documents again"):
            use()


WRITER = """
import sys
from ibidem_engines.engine import SignatureLookup
from ibidem_engines.connect import open_engine
sys.path.insert(0, sys.argv[4])
from support.signed_records import make_record
from ibidem_ingest.signatures.lookup_keys import lookup_keys

engine = open_engine(sys.argv[1], "news")
engine.create()
name, each = sys.argv[2], int(sys.argv[3])
for at in range(0, each, 4):
    batch = [make_record(f"{name}/{number}", f"story number {number} of grain") for number in range(at, at + 4)]
    orders = {outcome.id: outcome.order for outcome in engine.write(batch)}
    searches = [SignatureLookup(lookup_keys([record.packed])[0], own_id=record.document.id) for record in batch]
    for record, found in zip(batch, engine.find(searches)):
        story = record.document.id.partition("/")[2]
        for hit in found.hits:
            if hit.id.partition("/")[2] == story and hit.order < orders[record.document.id]:
                print(record.document.id, hit.id)
engine.close()
"""


@pytest.mark.slow
def test_of_two_copies_written_by_two_processes_the_later_one_finds_the_earlier(address: str, engine: Engine) -> None:
    """Every process writes the same stories under its own ids, and looks for earlier copies of what it wrote."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(WRITER), address]
    tests = str(Path(__file__).parents[2])
    running = [
        subprocess.Popen([*command, str(name), str(EACH), tests], stdout=subprocess.PIPE, text=True)
        for name in range(PROCESSES)
    ]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES
    pairs = {tuple(sorted(line.split())) for output in printed for line in output.splitlines()}
    expected = {
        (f"{number}/{story}", f"{other}/{story}")
        for story in range(EACH)
        for number in range(PROCESSES)
        for other in range(number + 1, PROCESSES)
    }
    assert pairs == expected
    assert engine.info().documents == PROCESSES * EACH
    assert engine.search(parse_query("grain"), 10).total == PROCESSES * EACH


@pytest.mark.slow
def test_a_batch_is_written_whole_or_not_at_all(engine: Engine, address: str, tmp_path: Path) -> None:
    """A process that is killed in the middle of a write leaves nothing of it, and the index as it was."""
    engine.write([make_record("a")])
    killed = """
        import os, signal, sys
        from ibidem_engines.sqlite import engine as sqlite
        from ibidem_engines.connect import open_engine
        sys.path.insert(0, sys.argv[2])
        from support.signed_records import make_record

        insert = sqlite._insert
        def insert_and_die(file, *new):
            insert(file, *new)
            os.kill(os.getpid(), signal.SIGKILL)
        sqlite._insert = insert_and_die
        open_engine(sys.argv[1], "news").write([make_record("b"), make_record("c")])
"""
    command = [sys.executable, "-c", textwrap.dedent(killed), address, str(Path(__file__).parents[2])]
    assert subprocess.run(command, check=False).returncode == -9
    assert engine.info().documents == 1
    assert [outcome.status for outcome in engine.write([make_record("b"), make_record("c")])] == [
        WriteStatus.INDEXED
    ] * 2
    assert [hit.id for hit in engine.search(parse_query("grain"), 10).hits] == ["a", "b", "c"]
    (found,) = engine.find([SignatureLookup(lookup_keys([make_record("x").packed])[0])])
    assert [hit.id for hit in found.hits] == ["a", "b", "c"]


TEXTS = (
    "grain prices rose in chicago today",
    "grain prices rose in chicago today and fell in kansas city tomorrow",
    "grain prices fell in chicago",
    "",
    " ".join(f"word{number}" for number in range(70)),
    " ".join(f"word{number}" for number in range(75)),
)

Step = tuple[int, str, int]


def carriers(
    records_by_id: Mapping[str, Record],
    values: Mapping[LookupField, Sequence[str]],
    minimum: Mapping[LookupField, int],
    own_id: str,
) -> list[str]:
    """Find by reading every document."""
    carriers_of_any = set()
    for name, record in records_by_id.items():
        own_values = lookup_keys([record.packed])[0]
        for field, keys in values.items():
            if name != own_id and len(set(keys) & set(own_values.get(field, ()))) >= minimum.get(field, 1):
                carriers_of_any.add(name)
    return sorted(carriers_of_any)


steps = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from("abcdef"), st.integers(-1, len(TEXTS) - 1)), max_size=10
)


@given(steps)
@settings(max_examples=examples(15), deadline=None)
def test_two_processes_find_what_reading_every_document_finds(
    tmp_path_factory: pytest.TempPathFactory, script: list[Step]
) -> None:
    """Documents come, change and go (-1) by either of two engines; both then find all that carries a value."""
    url = f"sqlite:///{tmp_path_factory.mktemp('law')}/index.sqlite"
    engines = [open_engine(url, "news"), open_engine(url, "news")]
    engines[0].create()
    records_by_id: dict[str, Record] = {}
    for version, (writer, name, text) in enumerate(script, 1):
        if text < 0:
            engines[writer].delete([name], version)
            records_by_id.pop(name, None)
        else:
            records_by_id[name] = make_record(name, TEXTS[text], version)
            engines[writer].write([records_by_id[name]])
        least: dict[LookupField, int] = {"rare": 5}
        searches = [
            SignatureLookup(lookup_keys([record.packed])[0], least, own_id=own_id)
            for record in records_by_id.values()
            for own_id in ("", record.document.id)
        ] + [SignatureLookup(lookup_keys([make_record("new", each).packed])[0], least) for each in TEXTS]
        for engine in engines:
            ids = [[hit.id for hit in answer.hits] for answer in engine.find(searches)]
            assert ids == [carriers(records_by_id, search.values, least, search.own_id) for search in searches]
    for engine in engines:
        engine.close()


def test_copies_beyond_what_is_listed_are_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem_engines.engine.CONTENT_HITS", 5)
    engine.write([make_record(f"d{number:02}") for number in range(12)])
    content: dict[LookupField, list[str]] = {"content": lookup_keys([make_record("x").packed])[0]["content"]}
    found = engine.find([SignatureLookup(content, limit=1, own_id=own_id) for own_id in ("", "d00", "d11")])
    assert [(len(each.hits), each.copies, [*each.capped]) for each in found] == [(5, 12, []), (5, 11, []), (5, 11, [])]


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
        assert {each.split("'")[1] for each in damaged_records(engine)} == set(BAD)

    def test_a_record_that_is_no_json_is_left_out(self, engine: Engine, tmp_path: Path) -> None:
        engine.put_records("overrides", {"good": GOOD, "bad": GOOD | {"a": ["news", "z"]}})
        with closing(sqlite3.connect(tmp_path / "index.sqlite")) as file, file:
            file.execute("""update "ibidem.news.ledger" set entry = '{"a": [' where key like '%bad%'""")
        assert len(load_overrides(engine)) == 1


@pytest.mark.parametrize("at", ["2026-01-05", "2026-01-05T10:00:00", "yesterday"])
def test_a_tombstone_without_a_time_that_can_be_compared_is_damaged(at: str, engine: Engine) -> None:
    now = datetime.now(UTC).isoformat()
    engine.put_records("tombstones", {"good": asdict(Tombstone(3, now)), "bad": {"version": 3, "at": at}})
    stones = dict(read_ledger(engine, "tombstones", Tombstone.from_record))
    assert list(stones) == ["good"]
    assert stones["good"].time is not None
