"""The account of a batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.errors import Damaged
from ibidem_ingest.errors import Refusal
from ibidem_workers.results import BatchResult

NUMBERS = st.integers(0, 1_000)
ACCOUNTS = st.builds(
    BatchResult,
    indexed=NUMBERS,
    unchanged=NUMBERS,
    stale=NUMBERS,
    unsigned=NUMBERS,
    refusals=st.lists(st.builds(Refusal, *[st.text(max_size=5)] * 4), max_size=3),
    at=st.floats(0, 1e9),
)


@given(ACCOUNTS)
def test_an_account_is_read_as_it_was_noted(account: BatchResult) -> None:
    assert BatchResult.from_json(account.as_json()) == account


@given(ACCOUNTS, ACCOUNTS)
def test_the_documents_of_two_accounts_add_up(one: BatchResult, other: BatchResult) -> None:
    both = one + other
    assert both.documents == one.documents + other.documents
    assert both.at == max(one.at, other.at)


@pytest.mark.parametrize("damage", [{"indexed": "2"}, {"refusals": [["where"]]}, {"parts": None}])
def test_a_damaged_account_is_named(damage: dict[str, object]) -> None:
    with pytest.raises(Damaged, match="next to the index is damaged"):
        BatchResult.from_json(BatchResult().as_json() | damage)
