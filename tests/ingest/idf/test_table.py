"""A table counts documents, is frozen and named by its contents, and a damaged file is never believed."""

import fcntl
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf import table as lookup
from ibidem_ingest.idf.store import MIN_DOCUMENTS, Tables, count_terms, listed_terms
from ibidem_ingest.idf.table import Table, write_whole
from ibidem_ingest.text.tokens import is_term, tokens
from ibidem_ingest.text.word_hash import wh1
from support.some import some

PAIRS = list(product("abcdefghij", repeat=2))
COUNTS = {"court": 600.0, "appeal": 80.0, "zeal": 7.0, "abate": 7.0, "typo": 4.0}


@pytest.fixture
def table() -> Table:
    return Table.build("en", 1000, COUNTS, "a test")


def test_idf_is_the_papers_formula(table: Table) -> None:
    assert table.idf_norm(3) == pytest.approx(log(1000.5 / 600) / log(1001))


def test_the_first_allowed_rank_is_where_the_formula_falls_to_the_highest_idf() -> None:
    table = Table.build("en", 100_000, {f"{a}{b}c": 5.0 + 3 * place for place, (a, b) in enumerate(PAIRS)}, "a test")
    idf = [log(100_000.5 / float(count)) / log(100_001) for count in table.counts]
    assert 0 < table.first_allowed == sum(value > 0.8 for value in idf) < table.size


def test_a_saved_table_is_opened_as_it_was(table: Table, tmp_path: Path) -> None:
    table.save(tmp_path / "new" / "a.idf")
    table_again = Table.open(tmp_path / "new" / "a.idf")
    assert (table_again.name, table_again.language, table_again.documents, table_again.origin) == (
        table.name,
        "en",
        1000,
        "a test",
    )
    assert [table_again.term(rank) for rank in range(table_again.size)] == ["abate", "zeal", "appeal", "court"]
    assert table_again.rank(wh1("zeal")) == 1
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.idf"]


def flipped(content: bytes, place: int) -> bytes:
    damaged = bytearray(content)
    damaged[place] ^= 0x55
    return bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [
        *(partial(flipped, place=place) for place in (3, 30, -9, -3000)),
        *(lambda content, end=end: content[:end] for end in (0, 5, 200, -8)),
        *(lambda content, a=a, b=b: content.replace(a, b, 1) for a, b in ((b'"en"', b'"de"'), (b":1000,", b":1001,"))),
        lambda content: content.replace(b"[4,", b"[3,"),
    ],
)
def test_a_file_that_was_changed_or_cut_is_noticed(
    table: Table, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.idf"
    table.save(path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert path.read_bytes() != whole
    with pytest.raises(TableError, match=r"a\.idf.*delete the file"):
        Table.open(path)


def test_a_file_whose_terms_were_hashed_in_another_way_is_noticed(table: Table, tmp_path: Path) -> None:
    replace(table, slots=lookup.layout_slots(table.hashes() ^ np.uint64(1 << 63))).save(tmp_path / "a.idf")
    with pytest.raises(TableError, match="hashed by another scheme"):
        Table.open(tmp_path / "a.idf")


def test_several_that_save_one_table_at_once_leave_it_whole(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "a.idf"
    table.save(path)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(table.save, path) for _ in range(40)]
        assert {Table.open(path).name for _ in range(40)} == {table.name}
        assert all(each.exception() is None for each in futures)
    assert [each.name for each in tmp_path.iterdir()] == ["a.idf"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def full() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    path = tmp_path / "a"
    path.write_bytes(b"whole")
    with pytest.raises(TableError, match="No space left on device; make its folder writable"):
        write_whole(path, full())
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_a_term_counts_once_for_each_document() -> None:
    texts = ["court court court of 1787" if number % 2 else "the appeal" for number in range(MIN_DOCUMENTS)]
    table = count_terms(texts, "en", "a test")
    assert table.counts[table.rank(wh1("court"))] == MIN_DOCUMENTS / 2
    assert [table.term(rank) for rank in range(table.size)] == ["appeal", "court", "the"]


OWN = Table.build("da", 1000, {"ret": 600.0, "lov": 80.0}, "a test")


def test_a_default_table_is_built_once_and_then_only_opened(tmp_path: Path) -> None:
    first = some(Tables(tmp_path).of("da"))
    times = sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir())
    assert some(Tables(tmp_path).of("da")).name == first.name
    assert Tables(tmp_path).of("da-DK") is None
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir()) == times


def test_who_waited_while_another_process_made_a_table_opens_that_one(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with ThreadPoolExecutor(1) as threads:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        waiting = threads.submit(Tables(tmp_path).of, "da")
        Tables(tmp_path).use(OWN)
        os.close(descriptor)
        assert some(waiting.result()).name == OWN.name
    assert [path.stem for path in tmp_path.glob("*.idf")] == [OWN.name]


def test_only_its_owner_may_read_what_was_built(tmp_path: Path) -> None:
    Tables(tmp_path).use(OWN)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        f"{OWN.name}.idf": 0o600,
        "da.current": 0o600,
    }


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match=r"file.*name another folder"):
        Tables(tmp_path / "file").use(OWN)
    with pytest.raises(TableError, match=r"file.da\.current"):
        Tables(tmp_path / "file").of("da")


def test_a_damaged_pointer_is_named(tmp_path: Path) -> None:
    (tmp_path / "da.current").write_bytes(b"\xff\0../x\n")
    with pytest.raises(TableError, match=r"da\.current does not name an idf table; delete the file"):
        Tables(tmp_path).of("da")


def test_a_table_under_anothers_name_is_noticed(tmp_path: Path) -> None:
    OWN.save(tmp_path / "0123456789abcdef.idf")
    with pytest.raises(TableError, match=rf"holds the idf table {OWN.name}"):
        Tables(tmp_path).named("0123456789abcdef")


def test_a_table_in_use_replaces_the_default_and_the_old_one_stays_readable(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    default = some(tables.of("da"))
    tables.use(OWN)
    assert some(tables.of("da")).name == OWN.name
    assert Tables(tmp_path).named(default.name) is not None


def test_a_damaged_current_table_is_said_and_not_replaced_in_silence(tmp_path: Path) -> None:
    Tables(tmp_path).use(OWN)
    path = tmp_path / f"{OWN.name}.idf"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(TableError, match=OWN.name):
        Tables(tmp_path).of("da")


@given(st.text(st.characters(categories=["L", "M"]), max_size=6))
@example("paraŀlel")
@example("artº")
@example("Court")
@example("μαΐου")
def test_a_word_of_the_table_is_one_token_of_a_text_and_a_term(word: str) -> None:
    assert all(tokens(term) == [term] and is_term(term) for term in listed_terms([word]))
