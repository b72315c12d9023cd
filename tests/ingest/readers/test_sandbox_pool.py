"""Files in foreign formats are parsed by several processes at once, and come in the order of their names."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Format
from ibidem_ingest.readers.sandbox import SandboxedReader, SandboxPool

PAGES = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(PAGES):
        words = f"The export duty on wheat was raised by the ministry for the {number}. time, officials said."
        (tmp_path / f"{number:02}.html").write_text(f"<title>Duty</title><p>{words}</p>")
    (tmp_path / "03.html").write_text("<title>Nothing</title>")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 3])
def test_documents_come_in_the_order_of_their_files(folder: Path, processes: int) -> None:
    documents = list(read([folder], processes=processes))
    assert [document.id for document in documents] == [f"{number:02}.html" for number in range(PAGES)]
    assert [number for number, document in enumerate(documents) if isinstance(document, Refusal)] == [3]


def test_as_many_files_are_parsed_at_once_as_there_are_processes() -> None:
    together = threading.Barrier(3, timeout=30)

    def parse(_: SandboxedReader) -> int:
        return together.wait()  # which only ends once three wait

    with SandboxPool(1_000, processes=3) as pool:
        assert sorted(pool.results([parse] * 3)) == [0, 1, 2]


def test_what_is_there_already_waits_for_what_came_before_it() -> None:
    def parse(_: SandboxedReader) -> str:
        return "parsed"

    with SandboxPool(1_000) as pool:
        assert list(pool.results(["first", parse, "last"])) == ["first", "parsed", "last"]


def test_little_is_read_ahead() -> None:
    calls: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1_000):
            calls.append(number)
            yield number

    with SandboxPool(1_000, processes=2) as pool:
        assert next(iter(pool.results(numbers()))) == 0
    assert len(calls) < 10


@pytest.mark.slow
def test_a_file_in_hand_does_not_keep_a_run_from_ending(folder: Path) -> None:
    hangs = (sys.executable, "-c", "import sys, time; sys.stdin.readline(); time.sleep(600)")
    pool = SandboxPool(1_000, seconds=600)
    with pool:
        (reader,) = pool._readers
        reader.command = hangs
        documents = pool.results([lambda apart: apart.parse_record(Format.HTML, folder / "00.html")])
        threading.Timer(0.5, os.kill, (os.getpid(), 2)).start()
        with pytest.raises(KeyboardInterrupt):
            next(documents)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("reader")]


@pytest.mark.slow
def test_mails_of_a_mailbox_are_parsed_at_once_and_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    head = "From a@b Mon Jan 01 00:00:00 2024\nSubject: Duty {0}\nContent-Type: text/plain\n\n"
    mail = head + "The duty was raised {0} times.\n\n"
    box = tmp_path / "all.mbox"
    box.write_text("".join(mail.format(number) for number in range(PAGES)))
    matches = [document for document in read([box], processes=2) if isinstance(document, Document)]
    assert [document.title for document in matches] == [f"Duty {number}" for number in range(PAGES)]
    assert not list(copies.iterdir())
