"""The embedded engine promises more than the contract: one file for many processes, and no language of its own."""

import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.engine import Engine, SignatureLookup, WriteStatus
from ibidem_engines.query import parse_query
from ibidem_engines.sqlite.write import lookup_values
from support.signed_records import make_record

PROCESSES = 3
EACH = 40


@pytest.mark.parametrize("names", [("layout", "schema"), ("schema",)])
def test_info_of_an_index_that_cannot_be_read_says_that_it_is_there(
    engine: Engine, tmp_path: Path, names: tuple[str, ...]
) -> None:
    engine.write([make_record("a")])
    engine.close()
    assert engine.info().documents == 1  # a closed engine opens again
    engine.close()
    with closing(sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)) as connection:
        for name in names:
            connection.execute("""update "ibidem.news.state" set value = '0' where name = ?""", (name,))
    info = engine.info()
    assert (info.exists, list(info.schema), info.documents) == (True, ["0"], 0)
    with pytest.raises(Permanent, match="ingest its documents again"):
        engine.search(parse_query("grain"), 10)


WRITER = """
import sys
from ibidem_engines.engine import SignatureLookup
from ibidem_engines.connect import open_engine
sys.path.insert(0, sys.argv[4])
from support.signed_records import make_record
from ibidem_engines.sqlite.write import lookup_values

engine = open_engine(sys.argv[1], "news")
engine.create()
name, each = sys.argv[2], int(sys.argv[3])
for at in range(0, each, 4):
    batch = [make_record(f"{name}/{number}", f"story number {number} of grain") for number in range(at, at + 4)]
    orders = {outcome.id: outcome.order for outcome in engine.write(batch)}
    searches = [SignatureLookup(lookup_values(record.packed), own_id=record.document.id) for record in batch]
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
        from ibidem_engines.sqlite import write
        from ibidem_engines.connect import open_engine
        sys.path.insert(0, sys.argv[2])
        from support.signed_records import make_record

        insert = write._insert
        def insert_and_die(file, *new):
            insert(file, *new)
            os.kill(os.getpid(), signal.SIGKILL)
        write._insert = insert_and_die
        open_engine(sys.argv[1], "news").write([make_record("b"), make_record("c")])
"""
    command = [sys.executable, "-c", textwrap.dedent(killed), address, str(Path(__file__).parents[2])]
    assert subprocess.run(command, check=False).returncode == -9
    assert engine.info().documents == 1
    assert [outcome.status for outcome in engine.write([make_record("b"), make_record("c")])] == [
        WriteStatus.INDEXED
    ] * 2
    assert [hit.id for hit in engine.search(parse_query("grain"), 10).hits] == ["a", "b", "c"]
    (found,) = engine.find([SignatureLookup(lookup_values(make_record("x").packed))])
    assert [hit.id for hit in found.hits] == ["a", "b", "c"]
