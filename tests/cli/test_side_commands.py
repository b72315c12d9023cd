"""Commands of side packages are found by entry points."""

from importlib.metadata import EntryPoint

import pytest
import typer

from ibidem.cli import app
from ibidem.cli.app import add_side_commands
from ibidem_gateway.command import register


def commands(monkeypatch: pytest.MonkeyPatch, value: str) -> list[str | None]:
    monkeypatch.setattr(app, "entry_points", lambda group: [EntryPoint("serve", value, group)])
    typed = typer.Typer()
    add_side_commands(typed)
    return [each.name for each in typed.registered_commands]


def test_a_side_package_registers_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    assert commands(monkeypatch, f"{register.__module__}:register") == ["serve"]


def test_a_package_that_is_not_installed_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert commands(monkeypatch, "ibidem_nosuch.command:register") == []


def test_any_other_import_error_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"ibidem_gateway\.nosuch"):
        commands(monkeypatch, "ibidem_gateway.nosuch:register")
