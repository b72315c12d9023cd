"""The text profile: the repeated words with coarse counts, as Nutch makes it, and with logarithms."""

from collections import Counter
from math import floor, log2

import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.signatures import text_profile
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch, tokens

WORDS = [
    "the",
    "of",
    "court",
    "courts",
    "jurisdiction",
    "jurisdictional",
    "jurisdictionally",
    "écoles",
    "ab1",
    "漢",
    "एकदम",
]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), max_size=5)


def naive(words: list[str], *, log: bool) -> str:
    """From the definition."""
    counts = Counter(word for word in words if len(word) > 2)
    if not counts:
        return ""
    highest = max(counts.values())
    quantum = floor(highest * 0.01 + 0.5)
    if quantum < 2:
        quantum = 2 if highest > 1 else 1
    if log:
        coarse = {word: floor(log2(count)) or 1 for word, count in counts.items() if count > 1 or highest == 1}
    else:
        coarse = {word: count // quantum * quantum for word, count in counts.items() if count >= quantum}
    if len(coarse) < 5:
        return ""
    lines = [f"{word} {value}" for word, value in sorted(coarse.items(), key=lambda item: (-item[1], item[0]))]
    return ("tl1:" if log else "tp1:") + xxhash.xxh3_128_hexdigest("\n".join(lines).encode())


@given(texts, st.booleans())
@example([" ".join(["court"] * 1234 + ["law"] * 250 + ["a b c one two six"] * 12 + WORDS * 3)], False)
@example([" ".join(["court"] * 1234 + ["law"] * 250 + ["a b c one two six"] * 12 + WORDS * 3)], True)
@example(["one two three four five", "one one two two three three four four five five"], False)
@example(["one two three four five", "one one two two three three four four five five"], True)
def test_profiles_are_as_the_definition_says(several: list[str], log: bool) -> None:
    batch = TokenBatch.tokenize(several)
    expected = [naive(tokens(text), log=log) for text in several]
    hashes = text_profile.sign_batch(batch, TermGroups.group(batch), log=log)
    assert hashes == [bytes.fromhex(each[4:]) for each in expected]
    assert [text_profile.sign(tokens(text), log=log) for text in several] == expected


NOTICE = ["net", "loss", "cts", "qtr", "ended"]


@given(st.permutations([*NOTICE, *NOTICE, "march"]))
def test_the_order_of_the_words_makes_no_difference(words: list[str]) -> None:
    assert text_profile.sign(words) == text_profile.sign([*NOTICE, *NOTICE])


@pytest.mark.parametrize(
    ("words", "has_profile"),
    [
        ("aaa bbb ccc ddd eee", True),
        ("aaa bbb ccc ddd", False),
        ("aaa aaa bbb ccc ddd eee", False),
        ("", False),
        ("aa bb cc dd ee ff", False),
    ],
)
def test_fewer_than_five_kept_words_make_no_profile(words: str, has_profile: bool) -> None:
    assert bool(text_profile.sign(words.split())) == has_profile


def test_a_logarithm_moves_less_than_a_count() -> None:
    text = ["the", "the", "the", "the", "the", "court", "court", "law", "law", "act", "act", "rule", "rule"]
    words_more = [*text, "the", "the"]
    assert text_profile.sign(text, log=True) == text_profile.sign(words_more, log=True)
    assert text_profile.sign(text) != text_profile.sign(words_more)


def test_profiles_of_two_schemes_and_missing_ones_are_never_equal() -> None:
    words = ["aaa", "bbb", "ccc", "ddd", "eee"]
    assert text_profile.compare(text_profile.sign(words), text_profile.sign(words, log=True)) == 0.0
    assert text_profile.compare("", "") == 0.0
