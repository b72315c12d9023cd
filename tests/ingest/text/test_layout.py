"""Thousands marks, spaced-out print and line numbers: left out of what is compared, kept in what is equal."""

import re
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import sign_columns, sign_one
from ibidem_ingest.text.layout import remove_layout
from ibidem_ingest.text.tokens import tokens_and_signs
from support.packed_texts import packed
from support.some import some

MARKS = ",.'\N{RIGHT SINGLE QUOTATION MARK}"
BLANKS = "\N{NO-BREAK SPACE}\N{FIGURE SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
PLEADING = [f"the {word} of the carrier is not what the statute asks of {word}" for word in "abcdefghijklmnopqrst"]
FIGURES = ["1", "2", "7", "8", "9", "12", "123", "200", "1,200", "12.345.678", "0,123", "1'200,5", "1,200²"]
LETTERS = [*"abIæßéäЖя日約円ª»ﬁ½:|(\xd7", "\xd7y", "U.S.", "x-"]
pieces = st.sampled_from(FIGURES + LETTERS)
gaps = st.sampled_from([" ", " ", " ", "  ", "\n", "-\n", "\f", "", ",", *BLANKS, "\u00ad", "\u0301"])
laid_out = st.lists(st.tuples(pieces, gaps), max_size=40).map(lambda several: "".join(map("".join, several)))
lines = st.lists(st.text("ab .-,\n12", max_size=60), min_size=1, max_size=30)


def number(several: list[str], first: int, form: str) -> str:
    return "".join(form.format(n, line) for n, line in enumerate(several, first))


numbered = st.builds(
    number, lines, st.integers(0, 60), st.sampled_from(["{} {}\n", "{1} {0}\n", "{}: {}\f", "{1} {0} "])
)


def words(text: str) -> list[str]:
    return tokens_and_signs(remove_layout(text))[0]


@given(st.lists(laid_out | numbered, min_size=1, max_size=4))
@example(["1'200,5\x0c1,200 ", "2,5 1,200"])
@pytest.mark.slow
def test_a_batch_reads_layout_as_plain_python_does(texts: list[str]) -> None:
    several = [Document("a", text) for text in texts]
    assert sign_columns(several, None).rows() == [sign_one(document, None) for document in several]


@given(st.integers(0, 10**12 - 1), st.sampled_from(MARKS + BLANKS))
def test_a_figure_is_one_word_with_marks_and_without(figure: int, mark: str) -> None:
    assert words(f"of {figure:,} tons".replace(",", mark)) == ["of", str(figure), "tons"]


@given(st.integers(0, 10**12 - 1), st.integers(0, 99), st.sampled_from(["{:,}.{:02}", "{:,}-{:02}", "${:,}/{:02}"]))
def test_what_follows_a_figure_is_a_word_of_its_own(figure: int, decimals: int, form: str) -> None:
    assert words(form.format(figure, decimals)) == [str(figure), f"{decimals:02}"]


@pytest.mark.parametrize(
    "text", ["0,200", "1234,567", "1,20", "1,2000", "a1,200", "1,200km", "1, 200", "1 200", "1.2.1987"]
)
def test_other_marks_part_words(text: str) -> None:
    assert len(words(text)) > 1


@pytest.mark.slow
def test_figures_with_other_marks_are_told_apart() -> None:
    seen: dict[str, object] = {}
    for characters in product("1, ", repeat=7):
        text = "".join(characters)
        written = (
            re.findall("1+", text),
            [len(re.findall("1+", text[: at.start()])) for at in re.finditer("(?<=1),(?=1)", text)],
        )
        assert seen.setdefault(repr(tokens_and_signs(text)), written) == written


@pytest.mark.parametrize(("spaced", "word"), [("S p e r r e", "sperre"), ("д л я", "для"), ("e é à", "eea")])
def test_spaced_out_print_is_a_word(spaced: str, word: str) -> None:
    assert words(f"The {spaced}, now") == ["the", word, "now"]


@pytest.mark.parametrize("form", ["{} {}\n", "{1} {0}\n", "{1} {0} ", "{:2}:   {}\n", "{}\n{}\n"])
@pytest.mark.parametrize("first", [1, 26, 50])
def test_line_numbers_are_left_out(form: str, first: int) -> None:
    plain = "\n".join(PLEADING)
    assert words(number(PLEADING, first, form)) == words(plain)
    assert words("\f".join(number(PLEADING[at : at + 10], first, form) for at in (0, 10))) == words(plain)


@pytest.mark.parametrize("text", ["a b", "I am", "U. S. A.", "a  b  c", "日 本 語", "1 2 3 4", "1 2 3 4 5 6 7 8 9"])
def test_other_single_letters_and_numbers_stay(text: str) -> None:
    several = text, number(PLEADING[:7], 1, "{} {}\n"), number(PLEADING, 1, "{}. {}\n")
    assert tuple(map(remove_layout, several)) == several


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("\n".join(PLEADING), number(PLEADING, 1, "{} {}\n")),
        (" ".join(f"{n * 37:,} tons" for n in range(90, 150)), " ".join(f"{n * 37} tons" for n in range(90, 150))),
        (" ".join(PLEADING), " ".join(PLEADING).replace("statute", "s t a t u t e")),
    ],
)
def test_they_are_near_and_never_identical(a: str, b: str) -> None:
    assert some(decide(packed(a), packed(b), Policy())).level == "near"
