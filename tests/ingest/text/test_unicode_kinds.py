"""Kinds of characters: pinned at Unicode 14.0, and what newer Pythons know does not change them."""

# ruff: noqa: RUF001 - characters that look like others are what is tested

import unicodedata
from hashlib import sha256

import pytest

from ibidem_ingest.text.unicode_kinds import (
    OTHER,
    UNASSIGNED,
    WIDEST,
    code_points,
    kind,
    kinds,
    kinds_of,
    normal_length,
)

CHANGED_SINCE = {0x295: "Lo"}
"""Letters whose category Unicode moved after 14.0."""


def category_of(kind: int) -> str:
    return {"l": "Ll", "L": "L", "S": "L", "M": "M", "D": "Nd", "s": "Nd"}.get(chr(kind), "")


def test_the_pinned_kinds_are_the_categories_that_this_python_knows() -> None:
    differing = {
        point: category
        for point, pinned in enumerate(kinds().tolist())
        if pinned not in (UNASSIGNED, OTHER)
        and not (category := unicodedata.category(chr(point))).startswith(category_of(pinned))
    }
    assert differing.items() <= CHANGED_SINCE.items()


def test_what_separates_is_no_letter_mark_or_digit() -> None:
    found = {unicodedata.category(chr(point)) for point, pinned in enumerate(kinds().tolist()) if pinned == OTHER}
    assert not {category for category in found if category[0] in "LM" or category == "Nd"}


def test_this_python_normalises_all_known_characters_as_the_first_one_did() -> None:
    digest = sha256()
    for point, pinned in enumerate(kinds().tolist()):
        if pinned != UNASSIGNED:
            folded = unicodedata.normalize("NFKC", chr(point)).lower()
            digest.update(unicodedata.normalize("NFKC", folded).encode("utf-8", "surrogatepass") + b"\n")
    assert digest.hexdigest() == "a704358dc87d6871176b8a01492f6ff88d67c527254509cc8b8a6366bef51967"


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        ("日々ひカーไทລາខမြ", "SSSSSSSSSSSM"),
        ("٣๓५Ⅳ½", "DsD--"),
        ("\u0378\ud800", "??"),
        ("한국어", "LLL"),
    ],
)
def test_kinds_of_scripts(characters: str, expected: str) -> None:
    assert kinds_of(characters).decode() == expected
    assert [chr(kind(character)) for character in characters] == list(expected)


def test_code_points_of_a_lone_surrogate_are_read() -> None:
    assert code_points("a\udfff𝒜").tolist() == [0x61, 0xDFFF, 0x1D49C]


def test_no_character_stands_for_more_than_the_widest() -> None:
    assert (
        max(normal_length(chr(point)) for point in (0x41, 0xFB01, 0x3300, 0xFDFA)) == WIDEST == normal_length("\ufdfa")
    )
