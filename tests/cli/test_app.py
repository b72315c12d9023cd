"""Every command is in the table, has its module and its help; a wrong use is said and nothing else is done."""

import subprocess
import sys

import pytest

from ibidem.cli import main
from ibidem.cli.app import COMMANDS, load


def leave(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    code = left.value.code
    return code if isinstance(code, int) else 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_that_begins_with_what_it_does(name: str, capsys) -> None:
    assert leave([name, "--help"]) == 0
    assert f"ibidem {name}" in capsys.readouterr().out
    assert load(name)


def test_the_help_names_every_command(capsys) -> None:
    assert leave(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in COMMANDS)


def test_the_version_is_that_of_the_distribution(capsys) -> None:
    assert leave(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ibidem 0.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serch", "x"], "No such command"),
        (["search", "x", "--levle", "near"], "No such option"),
        (["search", "x", "--level", "nearly"], "identical, near"),
        (["search", "x", "--keep", "newest"], "rank, earliest, latest, longest"),
        (["search", "x", "--window", "0"], "1 to 10,000"),
        (["search", "x", "--filter", "source"], "FIELD=VALUE"),
        (["search", "x", "--size", "0"], "--size"),
        (["search", "..."], "no word"),
        (["ingest"], "Missing argument"),
        (["ingest", "no-such-file.jsonl"], "No such file"),
        (["ingest", ".", "--format", "xls"], "jsonl, text, html, pdf"),
    ],
)
def test_a_wrong_use_leaves_with_two_and_says_what_is_right(
    arguments: list[str], said: str, capsys, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert leave(arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert not list(tmp_path.iterdir())


def test_help_comes_without_loading_an_engine_or_a_queue() -> None:
    code = "import sys, ibidem.cli\ntry:\n    ibidem.cli.main(['--help'])\nexcept SystemExit:\n    print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"celery", "elasticsearch", "opensearchpy", "numpy", "pydantic"} & set(printed.split())
