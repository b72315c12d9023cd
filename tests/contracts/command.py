"""The command `ibidem`, found as an installer finds it, in this process and in a folder of its own."""

import json
import os
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from faults.environment import wait_for
from servers.command_line import IBIDEM, surroundings
from servers.process import free_ports
from support.archives import extract

LEASES = Path(__file__).parents[1] / "upgrade" / "schema-3.tar.xz"  # documents and a small idf table


@dataclass(frozen=True)
class Exit:
    """How a command ended."""

    code: int  # its exit code
    out: str  # its standard output
    err: str  # its standard error


@dataclass(frozen=True)
class Command:
    folder: Path  # the current folder while it runs
    settings: dict[str, str]  # `IBIDEM_…`, and all others of them unset

    def run(self, *typed: str) -> Exit:
        (script,) = entry_points(group="console_scripts", name="ibidem")
        out, err = StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            for name in [name for name in os.environ if name.startswith("IBIDEM_")]:
                patch.delenv(name)
            for name, value in {"COLUMNS": "100", "NO_COLOR": "1", **self.settings}.items():
                patch.setenv(name, value)
            patch.chdir(self.folder)
            with pytest.raises(SystemExit) as left:
                script.load()(list(typed))
        code = left.value.code
        return Exit(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())

    def json(self, *typed: str) -> Any:
        process = self.run(*typed, "--json")
        assert process.out, process.err
        return {"exit": process.code, "json": json.loads(process.out)}

    @property
    def database(self) -> Path:
        return self.folder / ".ibidem" / "index.sqlite"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Read rows of its SQLite index, past everything of ours."""
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(sql).fetchall()


def leases(folder: Path) -> Command:
    """Unpack the documents and their idf table into a folder, with one file that is no JSON."""
    with tarfile.open(LEASES) as archive:
        extract(archive, folder)
    (folder / "index.sqlite").unlink()
    with (folder / "documents.jsonl").open("a", encoding="utf-8") as lines:
        lines.write("not JSON\n")
    return Command(folder, {"IBIDEM_TABLES": "tables", "IBIDEM_CONCURRENCY": "1"})


ENOUGH = 60.0


@contextmanager
def going_on(command: Command, log: Path, *typed: str) -> Iterator[None]:
    """Run a command until the block ends; its standard error goes to a file."""
    with log.open("w", encoding="utf-8") as err:
        process = subprocess.Popen(
            [IBIDEM, *typed], cwd=command.folder, env=surroundings(command.settings), stdout=err, stderr=err
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=ENOUGH)


@contextmanager
def gateway(command: Command, log: Path) -> Iterator[str]:
    """Run the gateway on a free port; gives its address."""
    (port,) = free_ports(1)
    with going_on(command, log, "serve", "--port", str(port)):
        assert wait_for(lambda: f":{port}/" in log.read_text(encoding="utf-8"), ENOUGH), f"no gateway: {log}"
        yield f"http://127.0.0.1:{port}"


def get(url: str, body: bytes | None = None, method: str | None = None) -> bytes:
    """Ask for something over HTTP."""
    headers = {"content-type": "application/json"} if body else {}
    request = Request(url, body, headers, method=method)  # noqa: S310 - our own address
    with urlopen(request, timeout=ENOUGH) as answer:  # noqa: S310 - as above
        text: bytes = answer.read()
    return text
