"""Errors become one message and an exit code; signals are waited for; side packages register their commands."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, version
from pathlib import Path
from types import ModuleType

import pytest

from ibidem.cli import Sigterm, build, exit_on_error, main, side_commands, sigterm_as_exception
from ibidem_core.errors import Permanent, Unavailable
from ibidem_ingest import distribution
from ibidem_ingest.errors import IbidemError, Refusal, Refused, UsageError


def stopped(by: KeyboardInterrupt) -> IbidemError:
    error = Unavailable("run 7 was stopped")
    error.__cause__ = by
    return error


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no level 'nearly'", "allowed: identical, near"), 2, "no level 'nearly'; allowed: identical, near"),
        (Permanent("the disk is full", "make room"), 1, "the disk is full; make room"),
        (Unavailable("it does not answer"), 1, "it does not answer"),
        (Refused(Refusal("a.jsonl:3", "x", "date", "'soon' is none")), 3, "a.jsonl:3: document 'x', field 'date'"),
        (
            FileNotFoundError(2, "No such file or directory", "gone.csv"),
            1,
            "gone.csv: No such file or directory; correct the name, or create the folder",
        ),
        (OSError(5, "Input/output error", "disk.csv"), 1, "disk.csv: Input/output error\n"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (stopped(KeyboardInterrupt()), 130, "run 7 was stopped"),
        (Sigterm(), 143, "interrupted"),
        (stopped(Sigterm()), 143, "run 7 was stopped"),
    ],
)
def test_a_foreseen_error_is_one_message_and_an_exit_code(
    error: BaseException, code: int, message: str, capsys
) -> None:
    @exit_on_error
    def fails() -> None:
        raise error

    with pytest.raises(SystemExit) as left:
        fails()
    assert left.value.code == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ibidem: {message}")
    assert printed.err.count("\n") == 1


def test_sigterm_ends_what_runs_once_and_leaves_the_putting_in_order_alone() -> None:
    @contextmanager
    def puts_in_order() -> Iterator[None]:
        try:
            yield
        finally:
            signal.raise_signal(signal.SIGTERM)
            endings.append("put in order")

    endings: list[str] = []
    with pytest.raises(Sigterm), sigterm_as_exception(), puts_in_order():
        signal.raise_signal(signal.SIGTERM)
    assert endings


def test_a_bug_keeps_its_traceback() -> None:
    @exit_on_error
    def buggy() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        buggy()


@pytest.mark.slow
def test_a_closed_pipe_is_no_message() -> None:
    """`ibidem … | head -1` ends quietly."""
    code = "from ibidem.cli import exit_on_error\n@exit_on_error\ndef run():\n    print('x\\n' * 100_000)\nrun()"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        process = subprocess.run([sys.executable, "-c", code], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (process.returncode, process.stderr) == (141, b"")


def leave(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    code = left.value.code
    return code if isinstance(code, int) else 0


def test_the_version_is_that_of_the_distribution(capsys) -> None:
    assert leave(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"ibidem {version('ibidem-search')} ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch", "x"], "No such command"),
        (["search", "x", "--levle", "near"], "No such option"),
        (["search", "x", "--level", "nearly"], "identical, near"),
        (["search", "x", "--keep", "newest"], "rank, earliest, latest, longest, current"),
        (["search", "x", "--window", "0"], "1 to 10,000"),
        (["search", "x", "--filter", "source"], "FIELD=VALUE"),
        (["search", "x", "--size", "0"], "--size"),
        (["search", "..."], "no word"),
        (["search", "--sort", "best"], "--sort 'best' is not valid; allowed: relevance, newest, oldest\n"),
        (["inspect"], "inspect takes an id or --file"),
        (["groups", "--stored", "--level", "partial"], "--stored cannot be combined with --level"),
        (["groups", "--boilerplate", "--level", "partial"], "--boilerplate cannot be combined with --level"),
        (["groups", "--packed", "--export", "a.csv"], "FILE.parquet"),
        (["regroup", "--all", "--packed", "a.parquet"], "--spark MASTER"),
        (["regroup", "--all", "--preset", "conrad2003"], "cannot be looked up"),
        (["regroup", "--all", "--similarity", "30"], "cannot be looked up"),
        (["backfill", "--check", "--dry-run"], "--dry-run and --check do not go together"),
        (["backfill", "--into", "x", "--follow"], "--into and --follow do not go together"),
        (["backfill", "--alias", "x"], "--alias needs --into"),
        (["delete"], "no document is named"),
        (["delete", "lease", "--undo", "--everything"], "--undo takes ids alone"),
        (["doctor", "--template"], "IBIDEM_ENGINE"),
        (["ingest"], "Missing argument"),
        (["ingest", "no-such-file.jsonl"], "No such file"),
        (["ingest", ".", "--format", "xls"], "jsonl, text, html, pdf"),
    ],
)
def test_a_wrong_use_leaves_with_two_and_says_what_is_right(
    arguments: list[str], message: str, capsys, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert leave(arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_help_comes_without_loading_an_engine_or_a_queue() -> None:
    code = "import sys, ibidem.cli\ntry:\n    ibidem.cli.main(['--help'])\nexcept SystemExit:\n    print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"celery", "elasticsearch", "opensearchpy", "numpy", "pydantic"} & set(printed.split())


HOT = """
import os, signal, threading, time
from ibidem.cli.backfill import catch_end_signals

def send_often():
    for _ in range(1_000):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.0003)  # so that each is handled by itself

sender = threading.Thread(target=send_often, daemon=True)
with catch_end_signals() as wait:
    sender.start()
    while sender.is_alive():
        wait(0)
    print(wait(10))
"""


@pytest.mark.slow
def test_a_signal_that_comes_in_the_very_moment_of_waiting_is_not_lost() -> None:
    process = subprocess.run([sys.executable, "-c", HOT], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "True\n"


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("ibidem_other")
    module.COMMANDS = {"other": ("Do something else.", "ibidem_other.nosuch")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ibidem_other", module)


def register(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(distribution, "entry_points", lambda group: [EntryPoint("other", value, group)])


def test_a_side_package_registers_its_commands_and_the_help_imports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "ibidem_other:COMMANDS")
    assert "other" in [each.name for each in build("").registered_commands]
    with pytest.raises(ModuleNotFoundError, match=r"ibidem_other\.nosuch|not a package"):
        build("other")


def test_a_package_that_is_not_installed_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "ibidem_nosuch:COMMANDS")
    assert side_commands() == {}


def test_any_other_import_error_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "ibidem_core.nosuch:COMMANDS")
    with pytest.raises(ModuleNotFoundError, match=r"ibidem_core\.nosuch"):
        side_commands()


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution `ibidem` of other people in the same environment."""
    metadata = tmp_path / "ibidem-1.0.2.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: ibidem\nVersion: 1.0.2\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("foreign")
def test_a_foreign_distribution_of_the_same_name_is_noticed() -> None:
    assert distribution.foreign_version() == "1.0.2"
