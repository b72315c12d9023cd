"""Phrases of mail programs in their languages."""

import pytest

from ibidem_ingest.mail.phrases import ADDRESS, FOOTER, LABEL, SEPARATOR, UNDERSCORES, VERB


@pytest.mark.parametrize(
    ("line", "label"),
    [("From: Ann", "from"), ("*Betreff:* Miete", "subject"), ("Enviado: lunes", "sent"), ("A: b", "to")],
)
def test_a_label_of_a_copied_head_is_known_by_its_field(line: str, label: str) -> None:
    match = LABEL.match(line)
    assert match is not None
    assert match.lastgroup == label


def test_words_for_writing_are_known_in_many_languages() -> None:
    lines = (
        "Ann wrote:",
        "schrieb Ann:",
        "Ann a écrit :",
        "Ann escribió:",
        "Ann ha scritto:",
        "Ann пишет:",
        "Ann 写道:",
    )
    assert all(map(VERB.search, lines))


def test_an_address_is_found_whole_also_in_words() -> None:
    found = [match[0] for match in ADDRESS.finditer("Ann <ann.b+c@mail.example.org> or ann at example dot org")]
    assert found == ["<ann.b+c@mail.example.org>", "ann at example dot org"]


def test_lines_above_a_quotation_and_below_a_mail_are_known() -> None:
    assert SEPARATOR.search("-----original message-----")
    assert FOOTER.match("sent from my telephone")
    assert UNDERSCORES.match("_" * 40 + "  ")
    assert UNDERSCORES.match("_" * 40 + " x") is None
