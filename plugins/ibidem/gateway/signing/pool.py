"""Processes that sign written documents, so that the gateway goes on answering."""

import asyncio
import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ibidem.gateway.signing.documents import Result, SigningContext, Written, sign_documents, unsigned_result
from ibidem_core.address import parse_address
from ibidem_core.settings import Settings
from ibidem_ingest.idf.store import Tables

_place: "tuple[SigningContext, Tables, Mapping[str, str]] | None" = None
"""Context and tables of a process, and the names of the tables that it has opened, by language."""


class SigningPool:
    """Signs documents in processes that start when they are needed and end with this one.

    Args:
        settings: What is signed, and how many processes there may be.
    """

    def __init__(self, settings: Settings) -> None:
        self._context = SigningContext(
            settings.tables,
            parse_address(settings.address).fields,
            settings.distinct,
            settings.max_text,
            settings.sign_seconds,
        )
        self.processes = settings.workers
        self._pool: ProcessPoolExecutor | None = None

    async def sign(self, writes: Sequence[Written]) -> list[Result]:
        """Sign documents; those of a process that ended are signed one by one, and the one that ends it is not signed.

        Args:
            writes: The documents.
        """
        try:
            return await self._sign_once(writes)
        except BrokenProcessPool:
            return [result for each in writes for result in await self._sign_alone(each)]

    async def _sign_alone(self, write: Written) -> list[Result]:
        for _ in range(2):  # the first time another document may have ended the process
            try:
                return await self._sign_once([write])
            except BrokenProcessPool:
                continue
        return [unsigned_result(write, "failure")]

    async def _sign_once(self, writes: Sequence[Written]) -> list[Result]:
        pool = self._open()
        try:
            return await asyncio.wrap_future(pool.submit(sign_here, writes))
        except BrokenProcessPool:
            if pool is self._pool:
                self._pool = None
                pool.shutdown(wait=False)
            raise

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.processes, context, initializer=_begin, initargs=(self._context,))
        return self._pool

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _begin(context: SigningContext) -> None:
    """Prepare a process: Ctrl-C is its parent's to answer, and it ends with its parent, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tables = Tables(context.tables)
    _put(context, tables, tables.current())


def _put(context: SigningContext, tables: Tables, hashes: Mapping[str, str]) -> None:
    global _place  # noqa: PLW0603 - the settings that a process of the pool gets once, and which tables it then opened
    _place = context, tables, hashes


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def sign_here(writes: Sequence[Written]) -> list[Result]:
    """Sign documents in this process, which ends when that takes too long."""
    if _place is None:
        raise RuntimeError("this process was not prepared")
    context, tables, hashes = _place
    current = tables.current()
    if any(current.get(language) != name for language, name in hashes.items()):
        tables = Tables(context.tables)
    faulthandler.dump_traceback_later(context.seconds, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        return sign_documents(writes, context, tables)
    finally:
        faulthandler.cancel_dump_traceback_later()
        _put(context, tables, tables.current() | current)
