"""The progress of a run, read from the ledger alone."""

from dataclasses import asdict

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_ingest.errors import UsageError
from ibidem_workers.batches import BatchResult, batch_key
from ibidem_workers.ingest import BLOCK, RUN_PREFIX, RunMonitor, RunRecord, parse_run, summary
from support.examples import examples


def noted_run(engine: Engine, batches: int, documents: int, state: str = "submitted") -> RunRecord:
    """Note a run whose batches are (to be) accounted for."""
    values = {"run": "run", "paths": [], "started": 0.0, "state": state, "documents": documents, "batches": batches}
    record = parse_run(values)
    engine.put_records("runs", {RUN_PREFIX + record.run: asdict(record)})
    return record


def note(engine: Engine, number: int, account: BatchResult) -> None:
    engine.put_records("runs", {batch_key("run", number): account.as_json()})


def test_duplicates_are_the_documents_that_joined_a_group_since_the_run_began_and_before_the_next(
    engine: Engine,
) -> None:
    for started, (run, counts) in enumerate({"first": {"near": 2}, "second": {"near": 5, "identical": 1}}.items()):
        record = RunRecord(run, [], float(started), "submitted", joined=counts)
        engine.put_records("runs", {RUN_PREFIX + record.run: asdict(record)})
    GroupCheckpoint(joined={"near": 9, "identical": 1}).save(engine)
    assert summary(engine, "first")["duplicates"] == {"identical": 1, "near": 3}
    assert summary(engine, "second")["duplicates"] == {"identical": 0, "near": 4}


@given(
    accounts=st.lists(
        st.builds(BatchResult, indexed=st.integers(0, 9), stale=st.integers(0, 9), at=st.just(1.0)), max_size=5
    ),
    missing=st.integers(0, 3),
)
@given_settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_read_is_what_became_of_it_at_any_time(
    engine: Engine, accounts: list[BatchResult], missing: int
) -> None:
    engine.delete_records("runs", [key for key, _ in engine.get_records("runs")])
    noted_run(engine, len(accounts) + missing, sum(result.documents for result in accounts) + missing)
    for number, account in enumerate(accounts):
        note(engine, number, account)
    counts = summary(engine, "run")
    assert counts["read"] == sum(int(str(counts[name])) for name in ("indexed", "unchanged", "stale", "refused"))
    assert (counts["pending"], counts["state"]) == (missing, "waiting" if missing else "done")


def test_a_long_run_is_followed_block_by_block(engine: Engine) -> None:
    batches = 2 * BLOCK + 50
    noted_run(engine, batches, batches)
    watch = RunMonitor(engine, "run")
    for number in range(batches):
        if number != 120:
            note(engine, number, BatchResult(indexed=1))
    assert (watch.look().done, watch.look().has_ended) == (batches - 1, False)
    note(engine, 120, BatchResult(indexed=1))
    assert (watch.look().done, watch.look().has_ended) == (batches, True)


def test_a_submission_that_was_killed_is_shown_with_what_it_sent(engine: Engine) -> None:
    noted_run(engine, 0, 0, "reading")
    note(engine, 0, BatchResult(indexed=5))
    counts = summary(engine, "run")
    assert (counts["read"], counts["state"], counts["pending"]) == (5, "reading", 0)


def test_a_run_that_is_not_there_is_an_error_that_says_what_to_do(engine: Engine) -> None:
    with pytest.raises(UsageError, match="ibidem ingest"):
        summary(engine)
    with pytest.raises(UsageError, match="'other'"):
        summary(engine, "other")


def test_a_record_that_names_more_batches_than_there_can_be_is_read_to_where_accounts_end(engine: Engine) -> None:
    noted_run(engine, 10**9, 10**9)
    note(engine, 3, BatchResult(indexed=1))
    assert summary(engine, "run")["read"] == 1
