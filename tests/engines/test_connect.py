"""From addresses to engines."""

from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError


def test_an_address_with_three_strokes_is_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = open_engine("sqlite:///some/where/index.sqlite", "news")
    assert list(tmp_path.iterdir()) == []
    engine.create()
    engine.close()
    assert (tmp_path / "some" / "where" / "index.sqlite").is_file()


def test_an_address_with_four_strokes_is_absolute(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/a%20b%3F.sqlite", "news")
    engine.create()
    engine.close()
    assert (tmp_path / "a b?.sqlite").is_file()


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://index.sqlite", "sqlite:///folder/", "sqlite:///a%00b"],
)
def test_an_address_that_names_no_file_says_how_one_is_written(url: str) -> None:
    with pytest.raises(UsageError, match=r"does not name a file; write sqlite:///folder/file\.sqlite"):
        open_engine(url, "news")


@pytest.mark.parametrize("url", ["", "index.sqlite", "postgres://ann:s3cret@host/db", "sqlite", "sqlite:/a"])
def test_an_unknown_address_lists_the_right_ones_and_shows_no_password(url: str) -> None:
    with pytest.raises(UsageError, match="sqlite:///") as error:
        open_engine(url, "news")
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("index", ["news", "news-2024", "9_9", "a" * 100])
def test_index_names_are_lower_case_letters_digits_and_two_signs(tmp_path: Path, index: str) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", index)
    engine.create()
    assert engine.info().exists
    assert engine.index == index
    engine.close()


@pytest.mark.parametrize("index", ["", "News", "a b", "-a", "_a", 'a"b', ".b", "é", "a" * 101, "a\n"])
def test_another_index_name_is_refused(index: str) -> None:
    with pytest.raises(UsageError, match="lower-case letters, digits, -, _ and "):
        open_engine("sqlite:///index.sqlite", index)
