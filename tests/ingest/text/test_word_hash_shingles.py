"""`sh1`: five tokens in a row; a shorter document is one shingle."""

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import Shingles, shingles, wh1

MASK = (1 << 64) - 1
texts = st.lists(st.lists(st.sampled_from("abc"), max_size=14).map(" ".join), max_size=8)


def naive(words: Sequence[str]) -> list[int]:
    padded = [wh1(word) for word in words] + [0] * (5 - len(words) if words else 0)
    values = []
    for start in range(len(padded) - 4):
        h1, h2, h3, h4, h5 = padded[start : start + 5]
        s = ((h1 * 0x6649C8876CE98251 + h2) * 0xC2D84E846D2B8989 + (h3 * 0x6649C8876CE98251 + h4)) * 0xE249EB2067D24289
        s = s + h5 & MASK
        s = (s ^ s >> 32) * 0xFF51AFD7ED558CCD & MASK
        values.append(s ^ s >> 29)
    return values


@given(texts)
@example(["a b c d", "a", "", "a b c d e", "a b"])
@example(["", "a b c d e f", ""])
@example(["a b c a b c a b c a b c", "a b c a b c a b c", "x y z", "a a a a a a a", "a a a a a", "b b b b b b b"])
def test_shingles_are_as_the_definition_says(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    columns = Shingles.hash(batch.hashes, batch.offsets)
    assert columns.offsets.tolist() == batch.offsets.tolist()
    for document, text in enumerate(several):
        expected = naive(tokens(text))
        assert shingles([wh1(word) for word in tokens(text)]) == expected
        mine = columns.hashes[columns.offsets[document] : columns.offsets[document + 1]].tolist()
        assert mine[: len(expected)] == expected
        assert set(mine) == set(expected)
    assert columns.distinct().tolist() == [len(set(naive(tokens(text)))) for text in several]


def test_the_order_of_the_tokens_matters() -> None:
    hashes = [wh1(word) for word in ["held", "that", "the", "court", "erred"]]
    assert len({shingles([*hashes[place:], *hashes[:place]])[0] for place in range(5)}) == 5
