"""Page signatures."""

import numpy as np
import pytest

from ibidem_ingest.signatures import pages
from ibidem_ingest.signatures.pages import BANDS, MIN_TOKENS, band_keys, sign, sign_batch
from ibidem_ingest.text.tokens import TokenBatch, tokens

PAGES = [
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must want a wife.",
    "",
    "12",
    "However little known the feelings or views of such a man may be, this truth is so well fixed in the minds of all",
    "* * *",
]


def test_a_batch_of_pages_is_signed_as_one_by_one() -> None:
    sketches, profiles = sign_batch(TokenBatch.tokenize(PAGES))
    value = sign([tokens(page) for page in PAGES])
    assert [tuple(row) for row in sketches.tolist()] == [slots for slots, _ in value]
    assert profiles.tolist() == [profile for _, profile in value]


@pytest.mark.parametrize("limit", [1, 30, 45])
def test_pages_that_are_signed_some_at_a_time_are_signed_the_same(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = TokenBatch.tokenize([*PAGES, *PAGES, ""])
    batch_signatures = sign_batch(batch)
    monkeypatch.setattr(pages, "MAX_TOKENS", limit)
    for signatures, in_runs in zip(batch_signatures, sign_batch(batch), strict=True):
        assert in_runs.tolist() == signatures.tolist()
        assert in_runs.dtype == signatures.dtype


def test_blank_and_nearly_blank_pages_have_none() -> None:
    sketches, profiles = sign_batch(TokenBatch.tokenize(PAGES))
    has_signatures = [len(tokens(page)) >= MIN_TOKENS for page in PAGES]
    assert sketches.any(axis=1).tolist() == has_signatures
    assert not profiles[[not each for each in has_signatures]].any()


@pytest.mark.parametrize("count", [0, 1, 5_000])
def test_any_number_of_empty_pages_is_taken(count: int) -> None:
    sketches, profiles = sign_batch(TokenBatch.tokenize([""] * count))
    assert (sketches.shape, profiles.shape) == ((count, 34), (count,))
    assert not sketches.any()


def test_a_band_key_holds_its_number_and_three_slots() -> None:
    keys = band_keys(np.arange(68, dtype=np.uint16).reshape(2, 34))
    assert keys.shape == (2, BANDS)
    assert int(keys[1, 2]) == 2 << 48 | 42 << 32 | 41 << 16 | 40
