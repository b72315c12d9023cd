"""Pages are signed by this process or by several, with the same account."""

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers.backfill.batch import MIN_POOL_DOCUMENTS, BackfillBatch, Signers, SigningJob
from ibidem_workers.backfill.checkpoint import all_writes, names
from workers.conftest import fill


@pytest.mark.slow
@pytest.mark.parametrize("documents", [MIN_POOL_DOCUMENTS - 1, MIN_POOL_DOCUMENTS])
def test_one_process_or_several_give_the_same_account(settings: Settings, engine: Engine, documents: int) -> None:
    fill([Document(f"d{at}", f"We the People {at}") for at in range(20)], settings)
    source = open_reindex_source(settings.address, settings.index)
    all_names = [name for each in all_writes(source.newest()) for name in names(source, each)]
    source.close()
    job = SigningJob(settings, settings.index)
    own = job.context()
    with Signers(job, own, documents) as signers:
        assert signers.at_once == (1 if documents < MIN_POOL_DOCUMENTS else 2 * settings.workers)
        waiting = [signers.sign(BackfillBatch("run", at, all_names[at::2])) for at in range(2)]
        accounts = [wait().account for wait in waiting]
    assert [(account.unchanged, account.documents) for account in accounts] == [(10, 10), (10, 10)]
    own.engine.close()
    own.source.close()
