"""The record of a run."""

from ibidem_workers.runs import RunRecord, new_run, refusals_key


def test_names_of_runs_differ_and_begin_with_the_time() -> None:
    names = {new_run() for _ in range(5)}
    assert len(names) == 5
    assert all(name[:8].isdigit() and name[8] == "-" and "/" not in name for name in names)


def test_a_record_is_apart_from_its_batches_and_refusals() -> None:
    record = RunRecord(new_run(), [], 0.0)
    assert not record.key.startswith(record.run)
    assert refusals_key(record.run, 1) > f"{record.run}/99999999"
