"""`tok3`: tokens and signs are those of the definition, over kinds of characters that are pinned at Unicode 14.0."""

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.tokens import (
    OTHER,
    UNASSIGNED,
    TokenBatch,
    TokenShapes,
    is_term,
    join_broken_words,
    kind,
    kinds,
    tokens,
    tokens_and_signs,
)
from ibidem_ingest.text.word_hash import wh1

CHANGED_SINCE = {0x295: "Lo"}  # letters whose category Unicode moved after 14.0
CATEGORIES = {"l": "Ll", "L": "L", "S": "L", "M": "M", "D": "Nd", "s": "Nd"}  # of each kind


@pytest.mark.slow
def test_the_pinned_kinds_are_the_categories_that_this_python_knows() -> None:
    differing = {
        point: category
        for point, pinned in enumerate(kinds().tolist())
        if pinned not in (UNASSIGNED, OTHER)
        and not (category := unicodedata.category(chr(point))).startswith(CATEGORIES.get(chr(pinned), ""))
    }
    assert differing.items() <= CHANGED_SINCE.items()


def test_this_python_normalises_all_known_characters_as_the_first_one_did() -> None:
    digest = sha256()
    for point, pinned in enumerate(kinds().tolist()):
        if pinned != UNASSIGNED:
            letters = unicodedata.normalize("NFKC", chr(point)).lower()
            digest.update(unicodedata.normalize("NFKC", letters).encode("utf-8", "surrogatepass") + b"\n")
    assert digest.hexdigest() == "a704358dc87d6871176b8a01492f6ff88d67c527254509cc8b8a6366bef51967"


texts = st.text(st.sampled_from("aB1é\u0301-\u2010¬\u00ad\u2223 \t\r\n\f."), max_size=30)


def naive(text: str) -> str:
    """From the definition: find each break from left to right, then move the page breaks behind their words."""
    out = ""
    at = 0
    while at < len(text):
        space = re.compile(r"[ \t]*(\r?\n[ \t]*)?\f[ \t]*(\r?\n[ \t]*)?|[ \t]*\r?\n[ \t]*").match(text, at + 1)
        hyphen = text[at]
        previous = text[:at].rstrip("\u0301")[-1:]
        lower = previous and space and text[space.end() : space.end() + 1]
        soft = hyphen in "\u00ad\u2223"
        hard = (
            hyphen in "-\u2010\u2011¬"
            and lower
            and all(unicodedata.category(letter) == "Ll" for letter in (previous, text[space.end()]))
        )
        if space and (soft or hard):
            out += "\x00" * space[0].count("\f")
            at = space.end()
        else:
            out += hyphen
            at += 1
    while moved := re.search("\x00+([^\\W_]|[\u0301])", out):
        out = out[: moved.start()] + moved[1] + moved[0][:-1] + out[moved.end() :]
    return out.replace("\x00", "\f")


@given(texts)
@example("a-\fb-\fc d")
@example("Anglo-\nSaxon well-\r\n known cafe\u0301-\nteria")
def test_joining_is_as_the_definition_says(text: str) -> None:
    assert join_broken_words(text) == naive(text)


# ruff: noqa: RUF001 - characters that look like others are what is tested


SCRIPTS = (
    "aZ9 .,-\n\f\tàÉß\u0301\u0345ΣσςİıſKÅﬁ½²™…’“漢字々ひらカﾞーไทยกำລາວភាမြန်한국어द्वाराعَرَبШ\u00ad\u0378𝒜𝟗\U0003ffff"
)
mixed = st.text(st.one_of(st.sampled_from(SCRIPTS), st.characters()), max_size=60)
ascii_text = st.text(st.characters(max_codepoint=127), max_size=60)
latin = st.text(st.characters(max_codepoint=0x24F, exclude_characters="İ"), max_size=60)


UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


def naive_rules(text: str) -> list[str]:
    """From the definition, a character at a time."""
    text = UNSEEN.sub("", join_broken_words(text))
    text = "".join(" " if kind(character) == UNASSIGNED else character for character in text)
    text = fold(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()))
    words: list[str] = []
    inside = alone = False
    for character in text:
        major, single = unicodedata.category(character), chr(kind(character)) in "Ss"
        if major[0] == "L" or major == "Nd":
            if inside and not single and not alone:
                words[-1] += character
            else:
                words.append(character)
            inside, alone = True, single
        elif major[0] == "M" and inside:
            words[-1] += character
        else:
            inside = alone = False
    return words


@given(mixed)
@example("ΑΣ ΑΣΑ")
@example("e\u0301-\nx")
@example("0\u00ad0")
def test_tokens_are_as_the_definition_says(text: str) -> None:
    assert tokens(text) == naive_rules(text)


@given(st.lists(st.one_of(mixed, ascii_text, latin), max_size=6))
@example(["", "", "a"])
@example(["bro-", "ken"])
@example(["bro-\nken", "", "x- y", "whole"])
@example(["x" * 64, "y" * 65, "z" * 1000, "жда"])
def test_a_batch_holds_the_tokens_of_each_text(texts: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(texts)
    bounds = batch.offsets.tolist()
    assert len(batch) == len(texts)
    assert batch.lengths.tolist() == [len(tokens(text)) for text in texts]
    for document, text in enumerate(texts):
        places = range(bounds[document], bounds[document + 1])
        assert [batch.token(place) for place in places] == tokens(text)
        assert [int(batch.hashes[place]) for place in places] == [wh1(token) for token in tokens(text)]
        assert all(batch.documents[place] == document for place in places)
    assert batch.join_tokens() == [" ".join(tokens(text)).encode() for text in texts]
    shapes = TokenShapes.classify(batch.buffer, batch.starts, batch.ends)
    assert shapes.is_term.tolist() == [is_term(batch.token(place)) for place in range(batch.starts.size)]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος", "μηνιν αειδε θεα Πηληιαδεω Αχιληος"),
        ("ΤΕΛΟΣ", "τέλος"),
        ("الرَّحْمَٰنِ ٱلرَّحِيمِ", "الرحمن الرحيم"),
        ("مدرسة إلى أحمـــد", "مدرسه الي احمد"),
        ("کتاب های", "كتاب هاي"),
        ("à l'école française", "a l'ecole francaise"),
        ("за́мок ёлка", "замок елка"),
        ("שָׁלוֹם", "שלום"),
        ("e\u0301te\u0301", "été"),
        ("STRASSE Straße ẞ", "strasse strasse ss"),
        ("IŞIK ışık İzmir", "isik isik izmir"),
        ("Łódź Ærø œuvre Đorđe Guðrún Þór Ǿ", "lodz aero oeuvre dorde gudrun thor o"),
        ("٣٤ ۳۴ ३४ ๓๔ ３４", "34 34 34 34 34"),
        ("Ver\u00adkehrs\u200bge\u200dsell\u2060schaft \ufeffplan\u200f", "Verkehrsgesellschaft plan"),
    ],
)
def test_marks_make_no_difference_where_search_engines_fold_them(marked: str, plain: str) -> None:
    assert tokens(marked) == tokens(plain)
    assert TokenBatch.tokenize([marked]).hashes.tolist() == TokenBatch.tokenize([plain]).hashes.tolist()


@pytest.mark.parametrize(("a", "b"), [("हिन्दी", "हनद"), ("が", "か"), ("мой", "мои"), ("їжа", "іжа"), ("ไม่", "ไม")])
def test_marks_that_are_letters_make_a_difference(a: str, b: str) -> None:
    assert tokens(a) != tokens(b)


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
    batch, written = TokenBatch.tokenize_pages(texts, np.arange(len(texts) + 1))
    assert [sign.decode() for sign in written] == [tokens_and_signs(text)[1] for text in texts]
    assert [words.decode().split() for words in batch.join_tokens()] == [tokens_and_signs(text)[0] for text in texts]


def test_a_long_row_of_marks_takes_no_longer_a_mark() -> None:
    text = "> " * 200_000 + "(" * 200_000 + "+" * 200_000
    assert TokenBatch.tokenize_pages([text], np.array([0, 1]))[1] == [b""]
