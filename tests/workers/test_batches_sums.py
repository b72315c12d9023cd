"""The sum of many accounts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.errors import Refusal
from ibidem_workers.batches import NO_RESULT, BatchResult

NUMBERS = st.integers(0, 1_000)
ACCOUNTS = st.builds(
    BatchResult,
    indexed=NUMBERS,
    unchanged=NUMBERS,
    stale=NUMBERS,
    unsigned=NUMBERS,
    refusals=st.lists(st.builds(Refusal, *[st.text(max_size=3)] * 4), max_size=2),
    at=st.floats(0, 1e9),
)


@given(st.lists(ACCOUNTS, max_size=5))
def test_sums_are_the_sum_of_the_accounts(accounts: list[BatchResult]) -> None:
    sums = sum(accounts, NO_RESULT)
    assert sums.documents == sum(account.documents for account in accounts)
    assert sums.at == max((account.at for account in accounts), default=0.0)


@pytest.mark.slow
@given(st.lists(ACCOUNTS, max_size=4), st.lists(ACCOUNTS, max_size=4))
def test_adding_sums_is_summing_all(results: list[BatchResult], more_results: list[BatchResult]) -> None:
    assert sum(results, NO_RESULT) + sum(more_results, NO_RESULT) == sum([*results, *more_results], NO_RESULT)
