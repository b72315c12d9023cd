"""Quotations in a body, whose they are, and what they alter."""

import pytest

from ibidem_mail.forest import MAX_COMPARED, BodySection, body_sections
from support.mail_thread import FAITHFUL, RENT, WROTE, quote

ALTERED = f"Look.\n\n{WROTE}{quote(RENT.replace('thirty', 'twenty'))}"


def changed(body: str, section: BodySection) -> list[tuple[str, str]]:
    return [(each.original, body[each.start : each.end]) for each in section.changes]


def test_the_words_that_a_quotation_has_in_place_of_others_are_named_with_both() -> None:
    own, quotation = body_sections(ALTERED, [RENT])
    assert changed(ALTERED, quotation) == [("thirty", "twenty")]
    assert (list(own.changes), quotation.lines, quotation.kind) == ([], 3, "quoted")
    assert not [each.changes for each in body_sections(FAITHFUL, [RENT]) if each.changes]


@pytest.mark.parametrize(
    ("heading", "author"),
    [
        (WROTE, "On 3 May 2004 at 10:00, Ann Landlord <ann@example.org> wrote"),
        ("-----Original Message-----\nFrom: Ann Landlord\nSent: 3.5.2004\nTo: Bob\nSubject: lease\n\n", "Ann Landlord"),
        ("", ""),
    ],
)
def test_an_author_is_the_sender_of_a_copied_head_or_the_line_above(heading: str, author: str) -> None:
    assert body_sections(f"Yes.\n\n{heading}{quote(RENT)}")[-1].author == author


@pytest.mark.slow
def test_a_body_of_megabytes_is_not_compared() -> None:
    body = ALTERED + "> more\n" * (MAX_COMPARED // 7 + 1)
    assert not body_sections(body, [RENT])[1].changes
