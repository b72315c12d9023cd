"""The content hash: the same words in the same order, and nothing else."""

import xxhash
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures import content
from ibidem_ingest.tokens import TokenBatch, tokens

texts = st.lists(st.text(st.sampled_from("aB é.,\n7漢"), max_size=20), max_size=5)


@given(texts)
def test_it_is_xxh3_of_the_tokens_joined_by_a_space(several: list[str]) -> None:
    expected = [
        f"ch1:{xxhash.xxh3_128_hexdigest(' '.join(tokens(text)).encode())}" if tokens(text) else f"ch1:none:d{number}"
        for number, text in enumerate(several)
    ]
    names = [f"d{number}" for number in range(len(several))]
    assert [content.sign(tokens(text), name) for text, name in zip(several, names, strict=True)] == expected
    assert content.sign_batch(TokenBatch.of(several), names) == expected


def test_case_punctuation_spaces_and_page_breaks_make_no_difference() -> None:
    a = content.sign(tokens("IT IS ORDERED: that the motion\fbe denied."), "a")
    b = content.sign(tokens("it is ordered that the mo-\ntion be (denied)"), "b")
    assert content.compare(a, b) == 1.0


def test_a_figure_or_the_order_makes_a_difference() -> None:
    first = content.sign(["rates", "rose", "4", "pct"], "a")
    assert content.compare(first, content.sign(["rates", "rose", "5", "pct"], "b")) == 0.0
    assert content.compare(first, content.sign(["4", "pct", "rates", "rose"], "c")) == 0.0


def test_no_other_text_shares_the_hash_of_one_without_words() -> None:
    assert content.sign([], "a") != content.sign([], "b")
