"""A trial signs a sample as a backfill would, in an index that is removed again; the first index stays as it is."""

from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.stored_groups import Name
from ibidem_ingest.document import Document
from ibidem_workers.backfill import trial
from ibidem_workers.backfill.checkpoint import all_writes, names
from ibidem_workers.backfill.trial import Rates, measure_rates
from ibidem_workers.ingest import ingest_documents

pytestmark = pytest.mark.slow


TEXT = "The people of the united states order a more perfect union, to establish justice and form number"


@pytest.fixture(autouse=True)
def forty_documents(settings: Settings) -> None:
    ingest_documents([Document(f"d{at}", f"{TEXT} {at}") for at in range(40)], settings)


def try_it(settings: Settings) -> tuple[list[Name], Rates]:
    source = open_reindex_source(settings.address, settings.index)
    try:
        all_names = [each for writes in all_writes(source.newest()) for each in names(source, writes)]
        return all_names, measure_rates(source, settings, all_names)
    finally:
        source.close()


def test_the_index_itself_is_neither_written_to_nor_given_records(settings: Settings) -> None:
    file = Path(settings.engine.removeprefix("sqlite:///"))
    before = file.read_bytes()
    all_names, rates = try_it(settings)
    assert (len(all_names), rates.documents) == (40, 40)
    assert file.read_bytes() == before


def test_a_large_index_is_tried_with_documents_from_all_of_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Name] = []
    copy = trial._copy

    def record(source: object, target: object, sample: list[Name]) -> int:
        read.extend(sample)
        return copy(source, target, sample)  # type: ignore[arg-type]

    monkeypatch.setattr(trial, "_copy", record)
    monkeypatch.setattr(trial, "SAMPLE", 10)
    all_names, rates = try_it(settings)
    assert read == all_names[::4]
    assert rates.documents == 10
    read.clear()
    monkeypatch.setattr(trial, "SAMPLE", 30)
    assert try_it(settings)[1].documents == 30
    assert read[-1] in all_names[-2:]


def test_signing_and_settling_are_both_in_the_rates(settings: Settings) -> None:
    _, rates = try_it(settings)
    assert rates.signing > 0
    assert rates.start > 0
    assert rates.seconds(80) == pytest.approx(rates.start + 80 * (rates.signing + rates.settling))
