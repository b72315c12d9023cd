"""The help of the dedupe options is that of the table of parameters."""

import re

from ibidem.dedupe.parameters import PARAMETERS
from support.command_line import Run


def test_every_parameter_can_be_asked_for_and_its_help_lists_the_values(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    shown = " ".join(run("search", "--help")[1].split())
    for name, parameter in PARAMETERS.items():
        assert f"--{name.removeprefix('dedupe_').replace('_', '-')}" in shown
        assert re.sub(r"\s+", " ", parameter.about) in shown
        assert f"(default: {parameter.default})" in shown or name == "dedupe_explain"
