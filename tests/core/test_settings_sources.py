"""Settings are read from files and the environment."""

from pathlib import Path

import pytest

from ibidem_core.settings import load
from ibidem_ingest.errors import UsageError


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("ibidem.toml", "indx = 'news'\n", ["indx", "index"]),
        ("ibidem.toml", "index = news\n", ["ibidem.toml", "line 1"]),
        (".env", "IBIDEM_INDX=news\n", [".env", "IBIDEM_INDX", "IBIDEM_INDEX"]),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(name: str, text: str, names: list[str], tmp_path: Path) -> None:
    write(tmp_path, name, text)
    with pytest.raises(UsageError) as caught:
        load({}, tmp_path)
    assert all(part in str(caught.value) for part in names)


@pytest.mark.parametrize("where", ["environment", ".env", "ibidem.toml"])
def test_a_setting_that_was_removed_is_refused_with_what_does_its_work(where: str, tmp_path: Path) -> None:
    environment = {"IBIDEM_GATEWAY_SIGN": "true"} if where == "environment" else {}
    write(tmp_path, ".env", "IBIDEM_GATEWAY_SIGN=true\n" if where == ".env" else "")
    write(tmp_path, "ibidem.toml", "gateway_sign = true\n" if where == "ibidem.toml" else "")
    with pytest.raises(UsageError, match=f"{where}: .* is no longer a setting.*ibidem serve --follow"):
        load(environment, tmp_path)


def test_variables_of_the_tests_are_nobodys_mistake(tmp_path: Path) -> None:
    load({"IBIDEM_TEST_OPENSEARCH": "http://localhost:9200"}, tmp_path)
