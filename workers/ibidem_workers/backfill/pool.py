"""Pages of an index are signed by this process where they hold few documents, else by several."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from ibidem_core import logs
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine, open_reindex_source
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import BackfillBatch, BackfillContext, BatchOutcome, sign_batch
from ibidem_workers.executors import Pool

FEW = 1_500  # number of documents below which starting processes does not pay


@dataclass(frozen=True, slots=True)
class SigningJob:
    """Source, target and settings of one signing process."""

    settings: Settings
    source: str  # name of the index that is read
    into: str = ""  # name of the index that copies go to; empty for in place

    def context(self) -> BackfillContext:
        """Open engine, index and idf tables."""
        address = self.settings.address
        source = open_reindex_source(address, self.source)
        return BackfillContext(
            open_engine(address, self.into or self.source),
            source,
            source.copy_to(self.into) if self.into else None,
            Tables(self.settings.tables),
            self.settings,
        )

    def open(self, _: Callable[[], bool]) -> Callable[[BackfillBatch, int], BatchOutcome]:
        """Return what signs a page in an executor."""
        logs.set_up(self.settings)
        return partial(sign_batch, self.context())


class Signers(ExitStack):
    """Signs several pages at a time."""

    def __init__(self, job: SigningJob, context: BackfillContext, documents: int) -> None:
        super().__init__()
        self._context = context
        processes = 1 if documents < FEW else job.settings.workers
        pool: Pool[BackfillBatch, BatchOutcome] = Pool(job, processes)
        self._pool = self.enter_context(pool) if processes > 1 else None
        self.at_once = 1 if processes == 1 else 2 * processes

    def sign(self, page: BackfillBatch) -> Callable[[], BatchOutcome]:
        """Start signing a page; returns a function that waits for its outcome."""
        if self._pool is not None:
            return self._pool.submit(page).result
        outcome = sign_batch(self._context, page)
        return lambda: outcome
