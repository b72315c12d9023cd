"""One database file: who may use it, and what its errors say."""

import multiprocessing
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ibidem_core.errors import Permanent, Unavailable
from ibidem_engines.query import Filter, Query
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.search import conditions

PUT = "insert into {ledger} values ('runs', ?, ?)"
FORKS = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 warns where threads run
COUNT = "select count(*) from {ledger}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


@pytest.fixture
def file(path: Path) -> Iterator[SqliteFile]:
    file = SqliteFile(path, "news", patience=0.2)
    file.create()
    yield file
    file.close()


def count(file: SqliteFile) -> int:
    with file.reading():
        return int(file.run(COUNT).fetchone()[0])


def put(file: SqliteFile, key: str) -> None:
    with file.transaction():
        file.run(PUT, (key, "{}"))


def test_reading_makes_no_file(path: Path) -> None:
    file = SqliteFile(path / "deep" / "index.sqlite", "news")
    with pytest.raises(Permanent, match=r"no index 'news'.*ibidem ingest"), file.reading():
        pass
    assert file.state() == {}
    assert not path.exists()


def test_a_writer_that_waits_in_vain_is_told_that_it_may_try_again(file: SqliteFile, path: Path) -> None:
    other = SqliteFile(path, "news")
    with other.transaction(), pytest.raises(Unavailable, match=r"another process.*try again"), file.transaction():
        pass
    put(file, "a")
    assert count(file) == 1
    other.close()


def test_what_is_written_is_on_the_disk_and_what_is_in_a_file_s_schema_is_not_trusted(file: SqliteFile) -> None:
    with file.reading():
        assert file.run("pragma trusted_schema").fetchone() == (0,)
        assert file.run("pragma synchronous").fetchone() == (2,)
        assert file.run("pragma journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_database_or_no_folder_is_named(path: Path) -> None:
    path.write_text("This is a letter and no database. " * 100)
    file = SqliteFile(path, "news")
    for use in (file.create, file.state):
        with pytest.raises(Permanent, match=r"index\.sqlite: it is not an SQLite database.*IBIDEM_ENGINE"):
            use()
    assert path.read_text().startswith("This is a letter")
    file.close()
    with pytest.raises(Permanent, match="its folder cannot be created"):  # a file is in the folder's place
        SqliteFile(path / "index.sqlite", "news").create()


def test_a_damaged_file_is_named(file: SqliteFile, path: Path) -> None:
    with file.transaction():
        file.run_many(PUT, [(f"{number:05}", "x" * 500) for number in range(2_000)])
    file.close()
    with path.open("r+b") as damaged:
        damaged.seek(40 * 4096)
        damaged.write(os.urandom(200 * 4096))
    with pytest.raises(Permanent, match="damaged"), file.reading():
        file.run("select sum(length(entry)) from {ledger}").fetchall()


def test_a_full_disk_harms_nothing_that_is_there(file: SqliteFile) -> None:
    put(file, "a")
    with file.reading():
        (pages,) = file.run("pragma page_count").fetchone()
        file.run(f"pragma max_page_count = {pages + 2}")
    with pytest.raises(Permanent, match=r"the disk is full.*free some space"), file.transaction():
        file.run_many(PUT, [(str(number), "x" * 4_000) for number in range(100)])
    assert count(file) == 1


def test_a_file_that_may_not_be_written_is_named(file: SqliteFile, path: Path) -> None:
    file.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = delete")
    path.chmod(stat.S_IRUSR)
    if os.access(path, os.W_OK):  # root may write what nobody may
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        with file.reading():
            file.run("pragma query_only = on")
    with pytest.raises(Permanent, match=r"it cannot be written.*allow writing"):
        put(file, "a")


def _put_from_a_fork(file: SqliteFile) -> None:
    put(file, "child")
    file.close()


@pytest.mark.slow
@FORKS
def test_a_forked_process_opens_the_file_for_itself(file: SqliteFile) -> None:
    put(file, "parent")
    child = multiprocessing.get_context("fork").Process(target=_put_from_a_fork, args=(file,))
    child.start()
    child.join()
    assert child.exitcode == 0
    put(file, "parent again")
    assert count(file) == 3


def _create_and_put(path: Path, name: int) -> None:
    file = SqliteFile(path, "news")
    file.create()
    put(file, str(name))
    file.close()


@pytest.mark.slow
@FORKS
def test_processes_that_make_the_same_index_at_once_do_each_other_no_harm(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_create_and_put, args=(path, name)) for name in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4
    file = SqliteFile(path, "news")
    assert count(file) == 4
    file.close()


ENDLESS = "with recursive endless(n) as (select 1 union all select n + 1 from endless) select 'layout', n from endless"
COUNTED = ENDLESS.replace("select 'layout', n", "select max(n)")
STRANGE = {
    "an endless view for what the index is": """drop table "ibidem.news.state"; create view "ibidem.news.state"
        (name, value) as """
    + ENDLESS,
    "an endless view for the ledger": """drop table "ibidem.news.ledger"; create view "IBIDEM.news.ledger"
        (ledger, key, entry) as select 'runs', name, value from ("""  # noqa: S608 - the test's own
    + ENDLESS.replace("'layout', n", "'layout' as name, n as value")
    + ")",
    "a trigger on deleting": """create trigger quiet after delete on "ibidem.news.ledger"
        begin delete from "ibidem.news.documents"; end""",
    "a trigger in another's name": """create trigger "ibidem.news.log" before insert on "ibidem.news.documents"
        begin select raise(ignore); end""",
    "a column that is computed": """alter table "ibidem.news.ledger"
        add column more generated always as (hex(zeroblob(100000000)))""",
    "an index over a costly expression": """create index costly on "ibidem.news.documents" (hex(zeroblob(version)))""",
    "a part that is missing": """drop table "ibidem.news.long\"""",
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
def test_a_file_whose_tables_are_not_as_we_make_them_is_refused(file: SqliteFile, path: Path, change: str) -> None:
    put(file, "a")
    with closing(sqlite3.connect(path)) as other:
        other.executescript(change)
    for sqlite_file in (file, SqliteFile(path, "news")):  # one that has read it before, and one that has not
        for use in (sqlite_file.reading, sqlite_file.transaction, *([sqlite_file.state] * ("state" in change))):
            with pytest.raises(Permanent, match="that ibidem did not create"), use():
                pass  # pragma: no cover
        sqlite_file.close()


def test_no_statement_runs_for_longer_than_it_may(path: Path) -> None:
    file = SqliteFile(path, "news", longest=0.05)
    file.create()
    with pytest.raises(Unavailable, match="longer than it may"), file.reading():
        file.run(COUNTED).fetchone()
    put(file, "a")
    assert count(file) == 1
    file.close()


def test_values_are_bound_and_never_written_into_a_statement() -> None:
    evil = "' or 1=1 --"
    for field in ("source", "id", f"meta.{evil}"):
        condition, values = conditions(Query(filters=(Filter(field, evil),)))
        assert evil not in condition
        assert any(evil in str(value) for value in values)
