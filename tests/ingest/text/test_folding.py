"""Texts that differ in marks alone have the same tokens, where marks are no letters."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.text.tokens import TokenBatch, tokens

# ruff: noqa: RUF001 - characters that look like others are what is tested


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


@given(st.text(max_size=40))
def test_what_was_folded_has_the_same_tokens_again(text: str) -> None:
    once = tokens(text)
    assert tokens(" ".join(once)) == once


@given(st.text(st.sampled_from("aéñüçβάίς"), max_size=20))
def test_composed_and_decomposed_letters_are_the_same(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(text)
