"""The feature set is the 60 rarest terms, padded when there are fewer."""

from collections.abc import Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import feature_set
from ibidem_ingest.signatures.feature_set import FeatureSet, RarestTerms
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import wh1

WORDS = ["".join(letters) for letters in product("bcdfg", "aeiou", "lmnrs")]
STRANGE = ["x" + word for word in WORDS[:40]]
TABLE = Table.build("en", 100_000, {word: 50.0 + 9 * place for place, word in enumerate(WORDS)}, "a test")
texts = st.lists(st.sampled_from([*WORDS, *STRANGE, "of", "12"]), max_size=200).map(" ".join)


def naive(text: str) -> FeatureSet:
    words = set(text.split())
    term_numbers = sorted(WORDS.index(word) for word in words if word in WORDS)[:60]
    if len(term_numbers) < 20:
        return FeatureSet((), full=False)
    size = len(WORDS)
    pads = sorted({size + wh1(word) % (2**24 - size) for word in words if word in STRANGE})
    return FeatureSet(tuple((term_numbers + pads)[:60]), full=len(term_numbers) == 60)


@given(texts)
def test_one_document_is_as_the_definition_says(text: str) -> None:
    assert feature_set.sign(tokens(text), TABLE) == naive(text)


@given(st.lists(texts, min_size=1, max_size=8))
def test_a_batch_is_as_one_by_one(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    rarest = RarestTerms.look_up(batch, TermGroups.group(batch), TABLE)
    assert feature_set.sign_batch(rarest, TABLE).rows() == [feature_set.sign(tokens(text), TABLE) for text in several]


def test_nineteen_terms_make_no_set_and_twenty_are_padded() -> None:
    assert feature_set.sign(WORDS[:19] + STRANGE, TABLE) == feature_set.NONE
    padded = feature_set.sign(WORDS[:20] + STRANGE, TABLE)
    assert len(padded.codes) == 60
    assert not padded.full


def test_sixty_terms_of_the_table_make_a_full_set() -> None:
    assert feature_set.sign(WORDS[:70] + STRANGE, TABLE) == FeatureSet(tuple(range(60)), full=True)
