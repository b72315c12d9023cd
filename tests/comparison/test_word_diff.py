"""What differs between a lead and its duplicate fits on one line and is true."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.word_diff import EXAMINED, READ, Piece, set_aside, shorten, word_diff

WORDS = st.lists(st.sampled_from(["the", "court", "held", "that", "no", "appeal", "lies", "12", "13"]), max_size=40)


def only(kind: str, pieces: list[Piece]) -> list[str]:
    return [word for piece in pieces if piece.kind == kind for word in piece.words]


def test_a_changed_word_is_shown_between_the_words_around_it() -> None:
    diff = word_diff("net profit was 12.1 mln dlrs in March", "net profit was 12.3 mln dlrs in March", context=2)
    assert [(piece.kind, *piece.words) for piece in diff] == [
        ("gap",),
        ("same", "profit", "was"),
        ("lead", "12.1"),
        ("duplicate", "12.3"),
        ("same", "mln", "dlrs"),
        ("gap",),
    ]


@pytest.mark.parametrize(
    "duplicate", ["the  COURT held.", "The court\nheld", "the (court) held!", "the co\u00adurt held"]
)
def test_case_punctuation_and_line_breaks_are_no_difference(duplicate: str) -> None:
    if "\u00ad" in duplicate:
        duplicate = duplicate.replace("\u00ad", "\u00ad\n")
    assert word_diff("The court held", duplicate) == []


def test_words_that_only_one_text_has_are_alone() -> None:
    assert only("duplicate", word_diff("it is so", "it is not so")) == ["not"]
    assert only("lead", word_diff("it is not so", "it is so")) == ["not"]


@given(WORDS, WORDS)
def test_the_pieces_of_a_text_are_words_of_that_text(lead: list[str], duplicate: list[str]) -> None:
    pieces = word_diff(" ".join(lead), " ".join(duplicate), limit=100, context=100)
    assert [word for piece in pieces if piece.kind in {"same", "lead"} for word in piece.words] == (
        lead if pieces else []
    )
    assert [word for piece in pieces if piece.kind in {"same", "duplicate"} for word in piece.words] == (
        duplicate if pieces else []
    )


@given(WORDS)
def test_a_text_does_not_differ_from_itself(words: list[str]) -> None:
    assert word_diff(" ".join(words), " ".join(words)) == []


def test_no_more_places_are_reported_than_asked_and_a_gap_says_that_there_are_more() -> None:
    lead = " ".join(f"same same same same {number}" for number in range(20))
    diff = word_diff(lead, lead.replace("1", "x"), limit=2)
    assert sum(piece.kind == "lead" for piece in diff) == 2
    assert diff[-1].kind == "gap"


def test_what_lies_beyond_the_words_examined_is_one_place() -> None:
    lead = "start " + " ".join(f"a{number}" for number in range(3 * EXAMINED)) + " end"
    duplicate = "start " + " ".join(f"b{number}" for number in range(3 * EXAMINED)) + " end"
    diff = word_diff(lead, duplicate)
    assert [piece.kind for piece in diff] == ["same", "lead", "duplicate", "same"]
    assert len(only("lead", diff)) == 3 * EXAMINED


def test_a_long_run_of_words_is_shortened_and_counted() -> None:
    assert shorten(["word"] * 2000).endswith("(2,000 words)")
    assert len(shorten(["word"] * 2000)) < 60


def test_a_change_far_into_long_texts_is_shown_with_the_words_around_it() -> None:
    words = [f"word{number}" for number in range(20_000)]
    changed = [*words[:15_000], "altered", *words[15_001:]]
    diff = word_diff(" ".join(words), " ".join(changed))
    assert [(piece.kind, *piece.words) for piece in diff] == [
        ("gap",),
        ("same", "word14998", "word14999"),
        ("lead", "word15000"),
        ("duplicate", "altered"),
        ("same", "word15001", "word15002"),
        ("gap",),
    ]


@given(WORDS, WORDS, st.integers(0, 3))
def test_what_both_texts_begin_and_end_with_changes_no_difference(
    lead: list[str], duplicate: list[str], repeats: int
) -> None:
    around = [" ".join(["alpha beta gamma delta epsilon"] * 40 * repeats)]
    short = word_diff(" ".join(lead), " ".join(duplicate), limit=100)
    long = word_diff(" ".join(around + lead + around), " ".join(around + duplicate + around), limit=100)
    for kind in ("lead", "duplicate"):
        assert only(kind, long) == only(kind, short)


def book(*, pages: int = 300, words: int = 400) -> list[list[str]]:
    draw = Random(1)  # noqa: S311 (words of a text)
    return [[f"word{draw.randrange(5_000)}" for _ in range(words)] for _ in range(pages)]


def text(pages: list[list[str]], line: str = "\n") -> str:
    return "\f".join(" ".join(page[:50]) + line + " ".join(page[50:]) for page in pages)


def test_one_word_of_a_long_book_is_shown_with_its_page() -> None:
    changed = book()
    changed[99].insert(200, "not")
    diff = word_diff(text(book()), text(changed))
    assert [piece.kind for piece in diff] == ["gap", "page", "same", "duplicate", "same", "gap"]
    assert diff[1].words == ("page 100:",)
    assert only("duplicate", diff) == ["not"]


def test_differences_far_apart_are_all_shown_however_lines_are_broken() -> None:
    changed = book()
    changed[0].insert(0, "Confidential")
    changed[99].insert(200, "not")
    del changed[149][10]
    del changed[199]
    diff = word_diff(text(book()), text(changed, line=" "))
    assert only("duplicate", diff) == ["Confidential", "not"]
    assert only("page", diff) == ["page 1:", "page 100:", "page 150:", "page 200:"]
    assert [len(piece.words) for piece in diff if piece.kind == "lead"] == [1, 400]


def test_a_difference_on_another_page_names_both_pages() -> None:
    changed = book()
    del changed[8]
    changed[99].insert(200, "not")
    assert only("page", word_diff(text(book()), text(changed))) == ["page 9:", "page 101 → 100:"]


def test_up_to_where_differences_were_looked_for_is_said() -> None:
    pages = book(pages=600)
    changed = [list(page) for page in pages]
    changed[-1].insert(0, "not")
    changed[-1].append("end")
    begin, *_ = set_aside(text(pages), text(changed, line=" "))
    note = word_diff(text(pages), text(changed, line=" "))[-1]
    assert (note.kind, *note.words) == ("unread", f"not looked for beyond character {READ + begin:,}")
    same_lines = word_diff(text(pages), text(changed))
    assert only("duplicate", same_lines) == ["not", "end"]
    assert "unread" not in {piece.kind for piece in same_lines}


def test_words_without_order_are_cut_at_anchors_a_bounded_number_of_times() -> None:
    names = [f"u{number}" for number in range(3_000)]
    lead = [word for pair in pairwise(names) for word in pair]
    diff = word_diff(" ".join(lead), " ".join(reversed(lead)), limit=10_000)
    assert only("lead", diff)
