"""The help of every command: its arguments, options and words."""

import re
from pathlib import Path

import pytest

from contracts.command import Command
from contracts.golden import Golden

FAMILIES = ("overrides", "idf")


def commands(help_text: str) -> list[str]:
    _, _, table = help_text.partition("─ Commands ─")
    return re.findall(r"^│ (\w[\w-]*)", table, re.MULTILINE)


@pytest.mark.slow
def test_the_help_of_every_command_is_as_written_down(tmp_path: Path) -> None:
    command = Command(tmp_path, {})
    root = command.run("--help").out
    Golden.check("help/ibidem.txt", root)
    assert set(FAMILIES) < set(commands(root))
    for name in commands(root):
        help_text = command.run(name, "--help").out
        Golden.check(f"help/{name}.txt", help_text)
        assert bool(commands(help_text)) == (name in FAMILIES)
        for member in commands(help_text):
            Golden.check(f"help/{name}-{member}.txt", command.run(name, member, "--help").out)
