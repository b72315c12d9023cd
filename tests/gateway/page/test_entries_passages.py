"""Titles, passages and differences as pieces."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_gateway.page.entries import CLOSE, OPEN, diff, split_marks


@given(st.text())
def test_no_mark_and_no_control_character_is_left_in_a_piece(passage: str) -> None:
    for piece in split_marks(passage):
        assert OPEN not in piece.text
        assert "\0" not in piece.text


def test_the_words_of_the_query_are_pieces_of_their_own() -> None:
    pieces = split_marks(f"{OPEN}Rent{CLOSE} and {OPEN}roof{CLOSE}")
    assert [(each.text, each.kind) for each in pieces] == [("Rent", "word"), (" and ", "same"), ("roof", "word")]


def test_what_differs_is_distinguished() -> None:
    pieces = diff("Profit rose to 12", "Profit fell to 12")
    assert [(each.text, each.kind) for each in pieces] == [
        ("Profit", "same"),
        ("rose", "lead"),
        ("fell", "duplicate"),
        ("to 12", "same"),
    ]
    assert diff("the same", "THE SAME") == []
