"""Fixtures of the tests of the command line: a small index, made once by `ibidem ingest` itself."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibidem.cli import main
from support.leases import lease_records

Run = Callable[..., tuple[int, str, str]]
Answer = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def filled_folder(tmp_path_factory: pytest.TempPathFactory, tables_folder: Path) -> Path:
    """A folder with an index of the documents above."""
    folder = tmp_path_factory.mktemp("made")
    lines = [*map(json.dumps, lease_records()), "not JSON"]
    (folder / "docs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("IBIDEM_TABLES", str(tables_folder))
        patch.setenv("IBIDEM_CONCURRENCY", "1")
        with pytest.raises(SystemExit) as exit_info:
            main(["ingest", "docs.jsonl", "--json"])
    assert exit_info.value.code == 3
    return folder


@pytest.fixture
def run(
    filled_folder: Path,
    tables_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command in a copy of the folder; gives exit code, standard output and standard error."""
    for name in [name for name in os.environ if name.startswith("IBIDEM_")]:
        monkeypatch.delenv(name)
    shutil.copytree(filled_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBIDEM_TABLES", str(tables_folder))
    monkeypatch.setenv("IBIDEM_CONCURRENCY", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exit_info:
            main(arguments)
        printed = capsys.readouterr()
        code = exit_info.value.code or 0
        return int(code), printed.out, printed.err

    return run


@pytest.fixture
def answer(run: Run) -> Answer:
    """Run a command with --json; its standard output is one JSON document and nothing else."""

    def answer(*arguments: str) -> dict[str, Any]:
        _, out, _ = run(*arguments, "--json")
        output: dict[str, Any] = json.loads(out)
        return output

    return answer
