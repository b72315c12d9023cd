"""A file's suffix decides its format, or `--format` does."""

import pytest

from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.formats import Format, guess_format, parse_format, parse_formats


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("news.jsonl", Format.JSONL),
        ("news.ndjson.zst", Format.JSONL),
        ("NEWS.JSONL.GZ", Format.JSONL),
        ("brief.txt", Format.TEXT),
        ("readme.md", Format.MARKDOWN),
        ("index.rst", Format.TEXT),
        ("page.htm", Format.HTML),
        ("scan.PDF", Format.PDF),
        ("brief.txt.gz", Format.TEXT),
        ("table.csv.bz2", Format.CSV),
        ("scan.pdf.gz", None),
        ("news.gz", None),
        ("LICENSE", None),
        ("photo.png", None),
    ],
)
def test_the_suffix_tells_the_format(name: str, expected: Format | None) -> None:
    assert guess_format(name) is expected


def test_a_wrong_format_is_answered_with_the_right_ones() -> None:
    with pytest.raises(UsageError, match="no format 'word'; the formats are jsonl, text, html, pdf, markdown"):
        parse_format("word")


def test_suffixes_may_have_formats_of_their_own() -> None:
    assert parse_formats(".LOG=text, csv") == {".log": Format.TEXT, "": Format.CSV}
    with pytest.raises(UsageError, match="'log' is not a suffix"):
        parse_formats("log=text")
