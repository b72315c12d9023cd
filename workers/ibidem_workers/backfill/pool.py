"""Process pool for signing: for little work this process, else one process per processor."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from typing import Self, TypeVar

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine, open_reindex_source
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import BackfillBatch, BackfillContext, BatchOutcome, sign_batch
from ibidem_workers.executors import WorkerFailure

FEW = 1_500  # number of documents below which starting processes does not pay


def processes_for(documents: int, settings: Settings) -> int:
    """Return the number of processes for signing a number of documents."""
    return 1 if documents < FEW else settings.workers


Answer = TypeVar("Answer")

_job: "SigningJob | None" = None


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


class Signers:
    """Signs several pages at a time, as a context manager."""

    def __init__(self, job: SigningJob, context: BackfillContext, documents: int) -> None:
        self._job = job
        self._count = processes_for(documents, job.settings)
        self._pool: ProcessPoolExecutor | None = None
        self._own = context
        self.at_once = 1 if self._count == 1 else 2 * self._count

    def __enter__(self) -> Self:
        """Start the processes."""
        if self._count > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._count, context, initializer=_initialize, initargs=(self._job,))
        return self

    def __exit__(self, *_: object) -> None:
        """Finish the pages in progress, and end the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def sign(self, page: BackfillBatch) -> Callable[[], BatchOutcome]:
        """Start signing a page; returns a function that waits for its outcome."""
        pool = self._pool
        if pool is None:
            outcome = sign_batch(self._own, page)
            return lambda: outcome
        future = _report_exit(lambda: pool.submit(_sign, page))
        return lambda: _report_exit(future.result)


def _report_exit(call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except BrokenProcessPool as error:
        raise WorkerFailure("a signing process has ended", "continue with the same command") from error


def _initialize(job: SigningJob) -> None:
    """Prepare a process: it leaves Ctrl-C to its parent, and exits when its parent exits."""
    global _job  # noqa: PLW0603 - a process of the pool gets its job once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _job = job


@cache
def _context() -> BackfillContext:
    """Open engine and index for the first page, so that an error becomes that page's outcome."""
    if _job is None:
        raise RuntimeError("this process was not initialized")
    return _job.context()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _sign(page: BackfillBatch) -> BatchOutcome:
    return sign_batch(_context(), page)
