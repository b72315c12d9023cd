"""The text of a mail as the page shows it."""

from ibidem_engines.query import Phrase
from ibidem_gateway.page.body import MAX_SECTIONS, shown_sections
from ibidem_ingest.document import Document
from support.mail_thread import MAILS, RENT, WROTE, quote

BY_ID = {each.id: each for each in MAILS}
QUESTION = [BY_ID["question"]]


def text(section: object) -> str:
    return "".join(piece.text for each in section.fragments for piece in each.pieces)  # type: ignore[attr-defined]


def test_a_faithful_quotation_is_folded_and_an_altered_one_is_open() -> None:
    for name, opened, altered in (("faithful", False, ""), ("altered", True, "altered in 1 place")):
        quotation = next(each for each in shown_sections(BY_ID[name], QUESTION, ()) if each.kind == "quoted")
        assert (quotation.opened, quotation.altered, quotation.lines) == (opened, altered, "3 lines")
        assert quotation.author == "Ann Landlord <ann@example.org>"


def test_short_quotations_stay_open_above_their_answers() -> None:
    assert all(each.opened for each in shown_sections(BY_ID["inline"], QUESTION, ()))


def test_a_quotation_with_a_match_is_open_and_matches_are_counted_through_the_text() -> None:
    mail = Document("a", f"The roof leaks.\n\n{WROTE}{quote(RENT)}And my roof, too.\n", meta={"type": "mail"})
    sections = shown_sections(mail, (), [Phrase("roof")])
    matches = [
        [piece.match for each in section.fragments for piece in each.pieces if piece.match] for section in sections
    ]
    assert [each.kind for each in sections] == ["new", "quoted", "new"]
    assert matches == [[1], [2], [3]]
    assert sections[1].opened


def test_what_is_no_mail_or_has_too_many_sections_is_shown_whole() -> None:
    letter = Document("a", f"Dear Sir,\n{quote(RENT)}")
    assert [text(each) for each in shown_sections(letter, (), ())] == [letter.text.rstrip("\n")]
    many = Document("b", "> yes\nno\n" * MAX_SECTIONS, meta={"type": "mail"})
    assert len(shown_sections(many, (), ())) == 1


def test_no_word_of_a_mail_is_lost() -> None:
    for mail in MAILS:
        shown = "".join(text(each) for each in shown_sections(mail, QUESTION, ()))
        assert "".join(shown.split()) == "".join(mail.text.split())
