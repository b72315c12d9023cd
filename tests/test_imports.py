"""The rooms stand in a row: imports run one way."""

from pathlib import Path

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

CONFIG = Path(__file__).parents[1] / "pyproject.toml"


def test_no_room_imports_one_that_stands_behind_it(capsys) -> None:
    assert lint_imports(config_filename=str(CONFIG), cache_dir=None) == EXIT_STATUS_SUCCESS, capsys.readouterr().out
