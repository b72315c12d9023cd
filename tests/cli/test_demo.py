"""The demonstration shows real duplicates in an index of its own, and the commands that it names work as printed."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ibidem.cli import main
from ibidem.cli.demo import FOLDER, demonstrate, licences, next_commands
from ibidem_core.settings import Settings

Demonstration = tuple[Settings, Mapping[str, Any], Mapping[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demonstration(folder: Path, tables_folder: Path) -> Demonstration:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        mine = Settings(engine="sqlite:///mine.sqlite", broker="redis://mine", tables=tables_folder, concurrency=1)
        return demonstrate(mine, licences(folder / "none"))


@pytest.mark.slow
def test_every_text_is_indexed_and_copies_of_the_same_licence_are_noticed(demonstration: Demonstration) -> None:
    _, summary, _ = demonstration
    assert summary["indexed"] == summary["read"] > 20
    assert summary["duplicates"]["identical"] > 0


@pytest.mark.slow
def test_the_users_own_index_and_queue_are_left_alone(demonstration: Demonstration, folder: Path) -> None:
    settings, _, _ = demonstration
    assert str(FOLDER) in settings.engine
    assert settings.broker == ""
    assert not (folder / "mine.sqlite").exists()


@pytest.mark.slow
def test_the_commands_to_try_next_work_as_they_are_printed(
    demonstration: Demonstration, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    settings, _, response = demonstration
    monkeypatch.setenv("IBIDEM_TABLES", str(settings.tables))
    commands = next_commands(settings, response, "ibidem")
    assert len(commands) == 3
    for command in commands:
        setting, program, *arguments = shlex.split(command)
        name, _, value = setting.partition("=")
        assert (name, program) == ("IBIDEM_ENGINE", "ibidem")
        monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert not left.value.code
        assert capsys.readouterr().out


def test_one_copyright_file_that_two_packages_share_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "libc6").mkdir()
    (tmp_path / "libc6" / "copyright").write_text("This is the GNU C library.", encoding="utf-8")
    (tmp_path / "libc6-dev").symlink_to(tmp_path / "libc6")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    found = [licence.id for licence in licences(tmp_path) if licence.source == "Debian"]
    assert found == ["debian/libc6"]
