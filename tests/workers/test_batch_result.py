"""The outcome of a batch is read as it was stored, and those of several add up."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.errors import DamagedRecord
from ibidem_ingest.errors import Refusal
from ibidem_workers.batches import BatchResult

NUMBERS = st.integers(0, 1_000)
ACCOUNTS = st.builds(
    BatchResult,
    indexed=NUMBERS,
    unchanged=NUMBERS,
    stale=NUMBERS,
    unsigned=NUMBERS,
    refusals=st.lists(st.builds(Refusal, *[st.text(max_size=5)] * 4), max_size=3),
    at=st.floats(0, 1e9),
    languages=st.dictionaries(st.sampled_from(["en", "de", "fr"]), st.integers(1, 1_000)),
)


@given(ACCOUNTS)
def test_an_account_is_read_as_it_was_noted(account: BatchResult) -> None:
    assert BatchResult.from_json(account.as_json()) == account


@given(ACCOUNTS, ACCOUNTS)
def test_the_documents_of_two_accounts_add_up(result: BatchResult, other: BatchResult) -> None:
    total = result + other
    assert total.documents == result.documents + other.documents
    assert total.at == max(result.at, other.at)
    assert total.languages == Counter(result.languages) + Counter(other.languages)


@pytest.mark.parametrize("damage", [{"indexed": "2"}, {"refusals": [["where"]]}, {"replaced": None}])
def test_a_damaged_account_is_named(damage: dict[str, object]) -> None:
    with pytest.raises(DamagedRecord, match="stored with the index is damaged"):
        BatchResult.from_json(BatchResult().as_json() | damage)
