"""Every word of a text has its place in the text as it was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.word_places import chunks, token_offsets
from ibidem_ingest.text.tokens import tokens

BREAKS = st.sampled_from(
    ["-\n", "-\r\n  ", "\u00ad\n", "¬\n", "-\f", " - ", "\n\n", "\f", " ", "\u00a0", "\u2019s ", "ﬁ"]
)
TEXTS = st.lists(BREAKS | st.text(alphabet="abcXYZ019é东ßΣ", max_size=4) | st.text(max_size=3)).map("".join)


@given(TEXTS)
def test_cutting_into_chunks_loses_no_word_and_breaks_none(text: str) -> None:
    assert [token for chunk in chunks(text) for token in chunk.tokens] == tokens(text)


@given(TEXTS)
def test_places_lie_in_the_text_and_never_run_backwards(text: str) -> None:
    offsets = token_offsets(text)
    assert offsets.tokens == tokens(text)
    assert all(0 <= start < end <= len(text) for start, end in zip(offsets.starts, offsets.ends, strict=True))
    assert offsets.starts == sorted(offsets.starts)
    assert offsets.ends == sorted(offsets.ends)


@pytest.mark.parametrize("text", ["Held: affirmed (No. 12-B).", "Zürich, den 3. Mai", "東京 と"])
def test_the_characters_at_a_place_spell_the_word(text: str) -> None:
    offsets = token_offsets(text)
    spelled = [tokens(text[a:b]) for a, b in zip(offsets.starts, offsets.ends, strict=True)]
    assert spelled == [[token] for token in offsets.tokens]


def test_a_word_broken_at_the_end_of_a_line_covers_both_lines() -> None:
    text = "the defen-\n  dant pleads"
    offsets = token_offsets(text)
    place = offsets.tokens.index("defendant")
    assert text[offsets.starts[place] : offsets.ends[place]] == "defen-\n  dant"
