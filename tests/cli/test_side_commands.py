"""Commands of side packages are found by entry points, and the core does without those that are not installed."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from ibidem.cli.app import build, side_commands
from ibidem_core import side_packages


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A side package with one command."""
    module = ModuleType("ibidem_other")
    module.COMMANDS = {"other": ("Do something else.", "ibidem_other.nosuch")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ibidem_other", module)


def register(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(side_packages, "entry_points", lambda group: [EntryPoint("other", value, group)])


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
