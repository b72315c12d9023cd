"""The numbers of a text: how many, and a sketch of which."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures import numbers
from ibidem_ingest.signatures.numbers import Numbers
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import wh1

texts = st.lists(st.lists(st.sampled_from([*map(str, range(60)), "a1", "word", "٣", "漢"]), max_size=50).map(" ".join))


@given(texts)
def test_sketches_are_as_the_definition_says(several: list[str]) -> None:
    batch = TokenBatch.tokenize(several)
    expected = []
    for text in several:
        figures = {token for token in tokens(text) if any(character.isdigit() for character in token)}
        sketch = sorted({wh1(token) >> 48 for token in figures})[:16]
        expected.append(Numbers(min(255, len(figures)), tuple(sketch)))
    assert numbers.sign_batch(batch, TermGroups.group(batch)).rows() == expected
    assert [numbers.sign(tokens(text)) for text in several] == expected


def test_more_than_255_numbers_are_counted_as_255() -> None:
    text = " ".join(map(str, range(300)))
    batch = TokenBatch.tokenize([text])
    assert numbers.sign(tokens(text)).distinct == 255
    assert numbers.sign_batch(batch, TermGroups.group(batch)).rows()[0].distinct == 255


def test_the_share_is_taken_on_the_smallest_of_the_union() -> None:
    a, b = Numbers(20, tuple(range(16))), Numbers(20, (*range(8), *range(100, 108)))
    assert numbers.compare(a, b) == 8 / 16


def test_forms_differ_below_three_quarters_of_their_numbers() -> None:
    receipt = Numbers(16, tuple(range(16)))
    assert numbers.forms_differ(receipt, Numbers(16, tuple(range(5, 21))), (96, 96))
    assert not numbers.forms_differ(receipt, Numbers(16, tuple(range(4, 20))), (96, 96))
    assert not numbers.forms_differ(receipt, Numbers(16, tuple(range(9, 25))), (96, 97))


def test_numbers_agree_from_a_third_on_or_when_there_are_few() -> None:
    three = Numbers(3, (1, 2, 3))
    assert numbers.agree(three, Numbers(3, (2, 3, 4)))
    assert numbers.agree(three, Numbers(1, (1, 5, 6)))
    assert not numbers.agree(three, Numbers(4, (3, 4, 5, 6)))
    assert numbers.agree(three, Numbers(2, (8, 9)))
    assert numbers.compare(Numbers(0, ()), Numbers(0, ())) == 1.0
