"""Threads: counts that add up, mails that hold others, and what is altered."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail.forest import MAX_COMPARED, BodySection, Forest, ThreadedMail, altered_words, body_sections, holds
from ibidem_mail.parents import Parents, ThreadMail, thread_mails
from mail.letters import LEASE, PAID, ROOF, answer, mail
from support.examples import examples
from support.mail_thread import FAITHFUL, RENT, WROTE, quote


def grow(documents: Sequence[Document]) -> Forest:
    return Forest.grow(Parents.find(thread_mails(documents)))


def rows(*documents: Document) -> dict[str, ThreadedMail]:
    return {row.id: row for row in grow(documents).rows()}


FIRST = mail("a", LEASE, hour=1)
SECOND = mail("b", answer(ROOF, LEASE), hour=2, subject="Re: lease")
THIRD = mail("c", answer(PAID, answer(ROOF, LEASE)), hour=3, subject="Re: lease")


def test_only_the_end_of_a_branch_is_inclusive_where_all_is_quoted() -> None:
    found = rows(FIRST, SECOND, THIRD)
    assert {row.thread for row in found.values()} == {"a"}
    assert [row.inclusive for row in found.values()] == [False, False, True]
    assert list(found["a"].contained_in) == ["b", "c"]
    assert list(found["b"].contained_in) == ["c"]


def test_a_dropped_attachment_and_a_cut_quotation_make_a_mail_inclusive() -> None:
    with_file = mail("a", LEASE, hour=1, attachments=["lease.pdf"])
    assert rows(with_file, SECOND)["a"].inclusive
    cut = mail("b", answer(ROOF, LEASE[:60]), hour=2)
    assert rows(FIRST, cut)["a"].inclusive
    assert rows(FIRST, cut)["b"].parent == "a"


def test_an_altered_quotation_is_named_and_what_it_alters_stays_inclusive() -> None:
    forest = grow([FIRST, mail("b", answer(ROOF, LEASE.replace("first of May", "tenth of May")), hour=2)])
    ((quoted, answering, changes),) = forest.altered()
    assert (quoted, answering) == ("a", "b")
    start, end = changes[0].words
    assert "first" in LEASE.split()[start:end]
    assert all(row.inclusive for row in forest.rows())
    assert not list(grow([FIRST, mail("b", answer(ROOF, LEASE[:60]), hour=2)]).altered())


@given(st.permutations(range(6)))
@settings(max_examples=examples(50))
def test_threads_and_their_first_mails_are_the_same_in_whatever_order_mails_are_read(order: list[int]) -> None:
    """A copy, a circle and answers to a missing mail, of one time or of none: of these the ids decide."""
    mails = [
        mail("in#9", LEASE, number="a", hour=1),
        mail("in#10", LEASE, number="a", hour=1),
        mail("x", ROOF, number="x", parent="y"),
        mail("y", PAID, number="y", parent="x"),
        mail("p", answer(ROOF, LEASE), number="p", parent="gone"),
        mail("q", answer(PAID, LEASE), number="q", parent="gone"),
    ]
    found = rows(*(mails[at] for at in order))
    assert list(found.values()) == list(rows(*mails).values())
    others = {name: row.thread for name, row in found.items() if row.thread != name}
    assert others == {"in#10": "in#9", "y": "x", "p": "in#9", "q": "in#9"}
    assert found["x"].parent is None
    assert "in#9" in found["in#10"].contained_in


def read(text: str) -> ThreadMail:
    (found,) = thread_mails([mail("a", text)])
    return found


def test_a_mail_is_held_where_damaged_marks_change_the_depth_of_its_lines() -> None:
    damaged = quote(answer(ROOF, LEASE)).replace("> > The rent", "> The rent").replace("> I shall", "I shall")
    assert holds(read(f"{damaged}\n{PAID}"), read(answer(ROOF, LEASE)))


def test_a_few_words_between_quoted_lines_are_not_held_by_an_answer_that_drops_them() -> None:
    mail = f"{quote(LEASE)}Yes, it is.\n{quote(PAID)}No."
    assert holds(read(f"{quote(mail)}\n{ROOF}"), read(mail))
    assert not holds(read(f"{quote(mail.replace('No.', ''))}\n{ROOF}"), read(mail))
    assert not holds(read(f"{quote(mail.replace('Yes, it is.', ''))}\nYes, it is. {ROOF}"), read(mail))


def test_changed_words_are_found_at_both_ends_and_between() -> None:
    for old, new in (("The", "This"), ("house", "home"), ("before", "after")):
        assert altered_words(read(LEASE).own, read(answer(ROOF, LEASE.replace(old, new))).words[1]), old


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
