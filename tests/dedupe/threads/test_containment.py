"""Whether one mail holds another, and what it alters."""

from dedupe.threads.letters import LEASE, ROOF, answer, mail, quote
from ibidem_dedupe.threads.containment import alterations, holds
from ibidem_dedupe.threads.thread_mail import ThreadMail, thread_mails


def read(text: str) -> ThreadMail:
    (found,) = thread_mails([mail("a", text)])
    return found


def test_answers_between_quoted_lines_do_not_keep_a_mail_from_being_held() -> None:
    lines = LEASE.replace("May, ", "May,\n")
    first, second = quote(lines).splitlines()
    assert holds(read(f"{first}\nYes, it is.\n\n{second}\nNo."), read(lines))
    assert not holds(read(f"{first}\nYes, it is."), read(lines))


def test_a_few_words_are_held_where_they_stand_together() -> None:
    assert holds(read(answer(ROOF, "Yes, indeed.")), read("Yes, indeed."))
    assert not holds(read(answer(ROOF, "Yes, and indeed.")), read("Yes, indeed."))


def test_changed_words_are_found_at_both_ends_and_between() -> None:
    for old, new in (("The", "This"), ("house", "home"), ("before", "after")):
        assert alterations(read(LEASE), read(answer(ROOF, LEASE.replace(old, new)))), old


def test_equal_quotations_and_others_are_not_altered() -> None:
    assert not alterations(read(LEASE), read(answer(ROOF, LEASE)))
    assert not alterations(read(LEASE), read(answer(LEASE, ROOF)))
    assert not alterations(read("Yes."), read(ROOF))
