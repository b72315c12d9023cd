"""Tables: one of one's own counts documents, not occurrences; a default one comes from general language."""

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.store import MIN_DOCUMENTS, Tables, count_terms, is_one_term
from ibidem_ingest.idf.table import Table
from ibidem_ingest.text.tokens import is_term, tokens
from ibidem_ingest.text.word_hash import wh1
from support.some import some


def test_a_term_counts_once_for_each_document() -> None:
    texts = ["court court court of 1787" if number % 2 else "the appeal" for number in range(MIN_DOCUMENTS)]
    table = count_terms(texts, "en", "a test")
    assert table.counts[table.rank(wh1("court"))] == MIN_DOCUMENTS / 2
    assert [table.term(rank) for rank in range(table.size)] == ["appeal", "court", "the"]


def test_too_few_documents_are_refused_with_the_least_that_is_needed() -> None:
    with pytest.raises(TableError, match=r"10 documents are too few.*1,000"):
        count_terms(["a text"] * 10, "en", "a test")


OWN = Table.build("da", 1000, {"ret": 600.0, "lov": 80.0}, "a test")


def test_a_default_table_is_built_once_and_then_only_opened(tmp_path: Path) -> None:
    first = some(Tables(tmp_path).of("da"))
    times = sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir())
    assert some(Tables(tmp_path).of("da")).name == first.name
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
    assert not is_one_term(word) or (tokens(word) == [word] and is_term(word))
