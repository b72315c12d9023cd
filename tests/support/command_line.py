"""What the tests of the command line stand on: a small index, made once by `ibidem ingest` itself."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ibidem.cli import main
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table

LEASE = (
    "The tenant shall pay the rent on the first day of each month, in advance and without demand. The landlord shall "
    "keep the roof, the outer walls and the drains of the house in good repair. Neither party may assign this lease "
    "without the written consent of the other. This lease is governed by the law of England and Wales, and the courts "
    "of London have sole jurisdiction over every dispute that arises from it."
)
DOCUMENTS: list[Mapping[str, object]] = [
    {"id": "lease", "text": LEASE, "title": "Lease: rent, roof, drains", "date": "2001-05-01", "source": "Chambers"},
    {"id": "copy", "text": LEASE.upper(), "title": "Lease (copy)", "date": "2001-05-02", "source": "Registry"},
    {"id": "draft", "text": LEASE.replace("London", "York"), "title": "Lease (draft)", "source": "Chambers"},
    {"id": "letter", "text": "Dear Sir, the rent of last month has not arrived.", "title": "A reminder"},
    {"id": "blank", "text": "* * *", "title": "A page of stars about the rent"},
]

Run = Callable[..., tuple[int, str, str]]
Answer = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def tables_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small English table, since the general one takes a second to build."""
    folder = tmp_path_factory.mktemp("tables")
    words = sorted({word.strip(".,").lower() for word in LEASE.split() if len(word) > 4})
    Tables(folder).use(Table.of("en", 10_000, {word: 10.0 * at for at, word in enumerate(words, 1)}, "a test"))
    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, tables_folder: Path) -> Path:
    """A folder with an index of the documents above."""
    folder = tmp_path_factory.mktemp("made")
    lines = [*map(json.dumps, DOCUMENTS), "not JSON"]
    (folder / "docs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("IBIDEM_TABLES", str(tables_folder))
        patch.setenv("IBIDEM_CONCURRENCY", "1")
        with pytest.raises(SystemExit) as left:
            main(["ingest", "docs.jsonl", "--json"])
    assert left.value.code == 3
    return folder


@pytest.fixture
def run(
    made: Path, tables_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command in a copy of the folder; gives exit code, standard output and standard error."""
    for name in [name for name in os.environ if name.startswith("IBIDEM_")]:
        monkeypatch.delenv(name)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBIDEM_TABLES", str(tables_folder))
    monkeypatch.setenv("IBIDEM_CONCURRENCY", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        printed = capsys.readouterr()
        code = left.value.code or 0
        return int(code), printed.out, printed.err

    return run


@pytest.fixture
def answer(run: Run) -> Answer:
    """Run a command with --json; its standard output is one JSON document and nothing else."""

    def answer(*arguments: str) -> dict[str, Any]:
        _, out, _ = run(*arguments, "--json")
        found: dict[str, Any] = json.loads(out)
        return found

    return answer
