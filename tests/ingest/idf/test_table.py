"""A table is frozen, named by its contents, and a damaged file is never believed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf import table as lookup
from ibidem_ingest.idf.table import Table
from ibidem_ingest.text.word_hash import wh1

PAIRS = list(product("abcdefghij", repeat=2))
COUNTS = {"court": 600.0, "appeal": 80.0, "zeal": 7.0, "abate": 7.0, "typo": 4.0}


@pytest.fixture
def table() -> Table:
    return Table.build("en", 1000, COUNTS, "a test")


def test_ranks_run_from_the_rarest_term_ties_in_code_point_order(table: Table) -> None:
    assert [table.term(rank) for rank in range(table.size)] == ["abate", "zeal", "appeal", "court"]
    assert table.rank(wh1("appeal")) == 2


def test_idf_is_the_papers_formula(table: Table) -> None:
    assert table.idf_norm(3) == pytest.approx(log(1000.5 / 600) / log(1001))


def test_terms_over_the_highest_idf_are_known_but_not_allowed() -> None:
    table = Table.build("en", 100_000_000, {"rare": 5.0, "common": 9_000_000.0}, "a test")
    assert table.idf_norm(0) > 0.8
    assert table.first_allowed == 1


def test_the_first_allowed_rank_is_where_the_formula_falls_to_the_highest_idf() -> None:
    table = Table.build("en", 100_000, {f"{a}{b}c": 5.0 + 3 * place for place, (a, b) in enumerate(PAIRS)}, "a test")
    idf = [log(100_000.5 / float(count)) / log(100_001) for count in table.counts]
    assert 0 < table.first_allowed == sum(value > 0.8 for value in idf) < table.size


def test_every_term_is_found_at_its_rank_as_it_is_spelled() -> None:
    spelled = {"paraŀlel": 5.0, "para": 6.0, "lel": 7.0, "çà": 8.0, "x" * 200: 9.0, "日本": 10.0}
    table = Table.build("ca", 1000, spelled, "a test")
    assert [table.rank(wh1(term)) for term in spelled] == list(range(6))


def test_nothing_can_be_written_into_a_table(table: Table, tmp_path: Path) -> None:
    table.save(tmp_path / "a.idf")
    for each in (table, Table.open(tmp_path / "a.idf")):
        for part in (each.counts, each.slots, each.ends, each.letters):
            with pytest.raises(ValueError, match="read-only"):
                part[0] = 1


def test_equal_contents_have_equal_names_and_other_contents_another(table: Table) -> None:
    assert Table.build("en", 1000, COUNTS, "elsewhere").name == table.name
    assert Table.build("en", 1001, COUNTS, "a test").name != table.name
    assert Table.build("de", 1000, COUNTS, "a test").name != table.name
    assert Table.build("en", 1000, COUNTS | {"zeal": 8.0}, "a test").name != table.name


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


@pytest.mark.parametrize("place", [3, 30, -9, -3000])
def test_a_changed_byte_is_noticed(table: Table, tmp_path: Path, place: int) -> None:
    path = tmp_path / "a.idf"
    table.save(path)
    content = bytearray(path.read_bytes())
    content[place] ^= 0x55
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"a\.idf is damaged .*delete the file"):
        Table.open(path)


@pytest.mark.parametrize(("part", "damage"), [(b'"en"', b'"de"'), (b":1000,", b":1001,"), (b"[4,", b"[3,")])
def test_a_header_that_tells_something_else_is_noticed(
    table: Table, tmp_path: Path, part: bytes, damage: bytes
) -> None:
    path = tmp_path / "a.idf"
    table.save(path)
    content = path.read_bytes()
    assert content.count(part) == 1
    path.write_bytes(content.replace(part, damage))
    with pytest.raises(TableError, match=r"a\.idf is damaged .*delete the file"):
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


@pytest.mark.parametrize("length", [0, 5, 200, -8])
def test_a_cut_file_is_noticed(table: Table, tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.idf"
    table.save(path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(TableError, match="delete the file"):
        Table.open(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="none\\.idf"):
        Table.open(tmp_path / "none.idf")
