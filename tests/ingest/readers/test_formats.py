"""A file's suffix tells its format, or `--format` does."""

import pytest

from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.formats import Format, format_named, format_of


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("news.jsonl", Format.JSONL),
        ("news.ndjson.zst", Format.JSONL),
        ("NEWS.JSONL.GZ", Format.JSONL),
        ("brief.txt", Format.TEXT),
        ("readme.md", Format.MARKDOWN),
        ("index.rst", Format.RST),
        ("page.htm", Format.HTML),
        ("scan.PDF", Format.PDF),
        ("brief.txt.gz", None),
        ("news.gz", None),
        ("LICENSE", None),
        ("photo.png", None),
    ],
)
def test_the_suffix_tells_the_format(name: str, told: Format | None) -> None:
    assert format_of(name) is told


def test_a_wrong_format_is_answered_with_the_right_ones() -> None:
    with pytest.raises(UsageError, match="no format 'word'; the formats are jsonl, text, html, pdf, markdown"):
        format_named("word")


def test_a_format_is_chosen_by_name_or_left_to_the_suffix() -> None:
    assert [format_named("pdf"), format_named(None)] == [Format.PDF, None]
