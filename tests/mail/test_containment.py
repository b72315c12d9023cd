"""Whether one mail holds another, and what it alters."""

from ibidem_mail.forest import altered_words, holds
from ibidem_mail.parents import ThreadMail, thread_mails
from mail.letters import LEASE, PAID, ROOF, answer, mail, quote


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
