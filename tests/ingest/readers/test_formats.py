"""A file's suffix decides its format, or `--format` does.

The language of a text that does not say.
"""

import random

import pytest

from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.formats import LEAST_LETTERS, READ, Format, detect, guess_format, parse_format


@pytest.mark.parametrize(
    ("name", "expected"),
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
def test_the_suffix_tells_the_format(name: str, expected: Format | None) -> None:
    assert guess_format(name) is expected


def test_a_wrong_format_is_answered_with_the_right_ones() -> None:
    with pytest.raises(UsageError, match="no format 'word'; the formats are jsonl, text, html, pdf, markdown"):
        parse_format("word")


def test_a_format_is_chosen_by_name_or_left_to_the_suffix() -> None:
    assert [parse_format("pdf"), parse_format(None)] == [Format.PDF, None]


TEXTS = {
    "en": "The tenant shall pay the rent on the first day of each month, in advance and without demand.",
    "de": "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen.",
    "fr": "Le locataire paie le loyer le premier jour de chaque mois, d'avance et sans autre demande.",
    "la": "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, tertiam Celtae.",
    "ru": "Арендатор обязан вносить арендную плату в первый день каждого месяца, заранее и без напоминаний.",
    "zh": "承租人应当在每月的第一天预先支付租金,无须催告;出租人应当维修房屋的屋顶、外墙和排水管道。" * 3,
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_tells_its_language(language: str) -> None:
    assert detect(TEXTS[language]) == language


@pytest.mark.parametrize("text", ["", "hello", "1 2 3 " * 500, "Shr 33 cts vs 28 cts Net 3,722,000 vs 3,103,000 " * 4])
def test_what_is_too_short_or_holds_no_sentences_tells_none(text: str) -> None:
    assert detect(text) == ""


def test_a_page_that_was_misread_throughout_is_in_no_other_language() -> None:
    rng = random.Random(2)  # noqa: S311 - made-up data keeps no secret
    pages = [
        " ".join("".join(rng.choices("abcdeilmnorstu.,;|!^", k=rng.randrange(1, 9))) for _ in range(200))
        for _ in range(30)
    ]
    assert {detect(page) for page in pages} == {""}


def test_a_short_text_is_not_judged() -> None:
    assert detect(TEXTS["de"][: LEAST_LETTERS - 1]) == ""


def test_the_middle_of_a_text_tells() -> None:
    assert detect(TEXTS["en"] + TEXTS["de"] * 2 * (READ // len(TEXTS["de"])) + TEXTS["en"]) == "de"
