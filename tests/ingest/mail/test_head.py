"""Fields of a mail's head, in the forms in which programs write them."""

import pytest

from ibidem_ingest.mail.head import addresses, bare_subject, is_answer, is_mail, message_ids


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
