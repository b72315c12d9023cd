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


def test_variables_of_the_tests_are_nobodys_mistake(tmp_path: Path) -> None:
    load({"IBIDEM_TEST_OPENSEARCH": "http://localhost:9200"}, tmp_path)
