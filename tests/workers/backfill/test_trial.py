"""A trial signs a sample as a backfill would, in an index that is removed again; the first index stays as it is."""

from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.stored_groups import Name
from ibidem_ingest.document import Document
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
