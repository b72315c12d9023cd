"""Signs that carry meaning are told apart, layout is not, and the compiled loop finds what the definition finds."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.tokens import TokenBatch, tokens_and_signs

# ruff: noqa: RUF001 - characters that look like others are what is tested


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("-5,200 dollars", "5,200 dollars"),
        ("-$5,200", "$5,200"),
        ("(5,200)", "5,200"),
        ("a loss of $5", "a loss of €5"),
        ("5 %", "5 ‰"),
        ("if x < 3 then", "if x ≥ 3 then"),
        ("a<b", "a>b"),
        ("x != y", "x = y"),
        ("±3 degrees", "3 degrees"),
        ("written in C++ today", "written in C# today"),
        ("GPL-2.0+", "GPL-2.0"),
        ("over 18+ only", "over 18 only"),
        ("the Fe2+ ion", "the Fe2- ion"),
        ("5.2", "5,2"),
        ("1,000", "1.000"),
        ("10² tons", "102 tons"),
        ("½ ml", "1 2 ml"),
        ("if !valid", "if valid"),
        ("☑ rent", "☐ rent"),
        ("👍 agreed", "👎 agreed"),
    ],
)
def test_the_same_words_with_other_signs_are_told_apart(a: str, b: str) -> None:
    (words, signs), (its_words, its_signs) = tokens_and_signs(a), tokens_and_signs(b)
    assert words == its_words
    assert signs != its_signs


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("a - b", "a b"),
        ("- 5 apples\n- 6 pears", "* 5 apples\n* 6 pears"),
        ("> 5 people came\n>> 6", "5 people came\n6"),
        ("----\n5", "5"),
        ("well-known", "well known"),
        ("1990-1995", "1990–1995"),
        ("pages 3 - 5", "pages 3–5"),
        ("# Title", "Title"),
        ("| 5 | 6 |", "5 6"),
        ("5 %", "5%"),
        ("$ 5", "$5"),
        ("−5", "-5"),
        ("5 €", "5€"),
        ("*5*", "5"),
        ("He left. 5 came, 6 went!", "He left 5 came 6 went"),
        ("-> 5", "5"),
        ("Next … 5", "Next 5"),
        ("5\fnext", "5 next"),
        ("Fe2- ion", "Fe2-\nion"),
    ],
)
def test_layout_makes_no_difference(a: str, b: str) -> None:
    assert tokens_and_signs(a) == tokens_and_signs(b)


CHARACTERS = "aB5 12  -.,%$<>=+#!()>\n\fé²³€−’٣٪½…☑👍東ßﬁİ\u0300\u00ad\u200b\x1a™≥๒ßÆıł\u2066"


@given(st.lists(st.text(st.sampled_from(CHARACTERS), max_size=30), max_size=4))
@example(["5", "% of it", ">\n> -5 a<=b", "10² x²"])
@example(["Fe2-", "Æ1-", "a1-\n"])
def test_the_compiled_loop_finds_the_same_signs(texts: list[str]) -> None:
    batch = TokenBatch.tokenize(texts, with_signs=True)
    written = batch.write_signs(np.arange(len(texts) + 1))
    assert [sign.decode() for sign in written] == [tokens_and_signs(text)[1] for text in texts]
    assert [words.decode().split() for words in batch.join_tokens()] == [tokens_and_signs(text)[0] for text in texts]


def test_a_long_row_of_marks_takes_no_longer_a_mark() -> None:
    text = "> " * 200_000 + "(" * 200_000 + "+" * 200_000
    assert TokenBatch.tokenize([text], with_signs=True).write_signs(np.array([0, 1])) == [b""]
