"""A library that is missing is named with the command that installs it."""

import sys

import pytest

from ibidem_ingest.errors import Unreadable, UsageError
from ibidem_ingest.readers.formats import Format, load_library, require


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which the extra was never installed."""
    for name in ("trafilatura", "pypdfium2"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("format_", [Format.HTML, Format.PDF])
def test_a_missing_library_is_reported_before_anything_is_read(format_: Format) -> None:
    why = r"which is not installed; install it with: pip install 'ibidem-search\[readers\]'"
    with pytest.raises(UsageError, match=why):
        require(format_)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("format_", [Format.HTML, Format.PDF])
def test_a_missing_library_refuses_a_file_in_a_folder_and_names_the_remedy(format_: Format) -> None:
    with pytest.raises(Unreadable, match=r"pip install 'ibidem-search\[readers\]'"):
        load_library(format_)


@pytest.mark.usefixtures("bare")
def test_json_lines_and_text_need_no_extra() -> None:
    require(Format.JSONL)
    require(Format.TEXT)
