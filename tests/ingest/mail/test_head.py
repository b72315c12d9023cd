"""Fields of a mail's head, in the forms in which programs write them."""

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import addresses, bare_subject, is_answer, is_mail, mail_key, message_ids


@pytest.mark.parametrize(
    "subject", ["Re: Miete", "AW: WG: Miete", "RE: [leases] Miete", "TR : Miete", "RV: Re[2]: Miete", "Sv: Miete (fwd)"]
)
def test_prefixes_in_any_language_are_no_part_of_a_subject(subject: str) -> None:
    assert bare_subject(subject) == "Miete"
    assert is_answer(subject)


@pytest.mark.parametrize("subject", ["Miete", "Reply form: Miete", "[leases] Miete", ""])
def test_other_words_are_no_prefix(subject: str) -> None:
    assert not is_answer(subject)


def test_what_is_no_id_is_passed_over() -> None:
    assert message_ids(["<a@x>", 7, "<b@x> <c@x>"]) == ["a@x", "b@x", "c@x"]
    assert message_ids(None) == []


def test_people_are_their_addresses_or_else_their_names() -> None:
    assert addresses("Phillip K Allen", ["x"], '"Ann, L." <ANN@example.org>') == {"phillip k allen", "ann@example.org"}


def test_a_record_of_another_program_with_an_id_of_a_message_is_a_mail() -> None:
    assert is_mail({"message-id": "<1@example.org>"})
    assert is_mail({"type": "mail"})
    assert not is_mail({"type": "letter"})


MAIL = {"type": "mail", "from": "Ann <ann@example.org>", "sent": "Mon, 19 Oct 1987 09:30:00 +0200"}


@pytest.mark.parametrize(
    ("meta", "key"),
    [
        (MAIL | {"message-id": "<1@x>"}, "ann@example.org 1987-10-19T07:30:00"),
        (MAIL | {"from": "ANN@example.org", "sent": "1987-10-19T07:30:00Z"}, "ann@example.org 1987-10-19T07:30:00"),
        (MAIL | {"sent": "", "message-id": "<1@x>"}, "<1@x>"),
        (MAIL | {"from": "", "message-id": "<1@x>"}, "<1@x>"),
        (MAIL | {"from": ""}, ""),
        ({"from": "Ann <ann@example.org>", "sent": "1987-10-19"}, ""),
    ],
)
def test_a_mail_is_the_same_by_sender_and_time_or_else_by_its_message_id(meta: dict[str, str], key: str) -> None:
    assert mail_key(Document("a", "Agreed.", meta=meta)) == key
