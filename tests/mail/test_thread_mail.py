"""A mail as threads see it."""

from ibidem_ingest.document import Document
from ibidem_mail.parents import thread_mails
from mail.letters import LEASE, PAID, ROOF, answer, mail


def test_words_are_those_of_each_depth_without_what_introduces_them() -> None:
    (found,) = thread_mails([mail("a", answer(PAID, answer(ROOF, LEASE)), subject="Re: lease")])
    assert [level.size for level in found.words] == [
        len(text.replace("-", " ").split()) for text in (PAID, ROOF, LEASE)
    ]
    assert (found.subject, found.answers) == ("lease", True)
    assert "ann@example.org" in found.heading


def test_dates_and_heads_that_cannot_be_read_are_missing() -> None:
    meta = {"type": "mail", "references": 7, "in-reply-to": "", "attachments": "x", "from": ["y"]}
    (found,) = thread_mails([Document("a", "", date="1787", meta=meta), Document("b", LEASE)])
    assert (found.id, found.ancestors, found.time, found.attachments) == ("a", [], None, frozenset())
