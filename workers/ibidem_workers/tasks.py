"""Work on a batch: reads, signs and writes its documents, and records the result in the ledger.

The ledger keeps the promises: a try is counted before work begins, the result is recorded before the batch is
acknowledged, and a batch that was tried too often is done document by document. Whoever runs a batch runs it again.
"""

import faulthandler
import logging
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap
from typing import TypeVar

import orjson

from ibidem_core import logs
from ibidem_core.errors import EngineError, retry_unavailable
from ibidem_core.logs import Stages, log_context
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_engines.ledger import records
from ibidem_ingest.document import Document, place, printable_id, read_record
from ibidem_ingest.errors import Refusal, Refused
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import TRIES, WRITES, Batch, BatchResult, batch_key, overlap, read_account, read_tries
from ibidem_workers.dead_letters import DeadLetter, add_dead_letters, printable, writable

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)

A_DAY = 24 * 60 * 60 * 1_000_000  # in microseconds, as the submitter numbers documents: clocks differ, but not by that

WARM_LANGUAGE = "en"  # language whose idf table is loaded before the first batch

SIGN_SECONDS = 600.0  # seconds that signing a batch may take: the process is ended, and another one tries the batch


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Exit this process, with its stack on standard error, if the block takes too long.

    The interpreter's own watchdog thread does this, which also runs while a library blocks all other threads.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The engine, idf tables and settings of a worker."""

    engine: Engine  # where documents and accounts are written
    tables: Tables  # the idf tables
    settings: Settings  # limits and waiting times
    # Returns whether the worker was asked to end, so that it stops waiting.
    has_ended: Callable[[], bool] = lambda: False
    # Context that ends the worker when its block takes too long.
    time_limit: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a batch to a worker."""

    run: str  # the run that it belongs to
    batch: Batch  # the documents
    died: bool = False  # whether a worker has ended with it in hand since it was last handed out
    again: bool = False  # whether an earlier try may have written some of it
    tries: int = 0  # how often it was tried before, by the ledger
    stages: Stages = field(default_factory=Stages)  # how long each stage takes

    @property
    def key(self) -> str:
        return batch_key(self.run, self.batch.number, self.batch.part)

    @property
    def where(self) -> str:
        """Place for refusals of documents without an origin."""
        return f"message {self.key}"


def sign_and_write(context: WorkerContext, delivery: Delivery) -> BatchResult:
    """Sign and write a batch; its result is stored first, so that the message can be acknowledged.

    A batch that has a result already is left alone. One that ended its workers too often is done document by document,
    and a document that does goes to the dead letters.
    """
    with log_context(run=delivery.run, batch=delivery.key):
        tries = _with_retries(context, lambda: _begin(context.engine, delivery))
        if isinstance(tries, BatchResult):
            return tries
        delivery = replace(delivery, tries=tries)
        rejections = context.engine.rejections
        account, letters = _process_or_split(context, delivery)
        with delivery.stages("note"):
            _with_retries(context, lambda: _note(context.engine, delivery, account, letters))
        _log_batch(account, delivery.stages, delivery.tries, context.engine.rejections - rejections)
        return account


SentBatch = tuple[str, int, list[bytes]]  # run, number and documents in JSON


def open_signing(settings: Settings, has_ended: Callable[[], bool]) -> Callable[[SentBatch, int], None]:
    """Open engine and tables in a process of the pool; returns what works on a batch."""
    logs.set_up(settings)
    tables = Tables(settings.tables, settings.index)
    tables.of(WARM_LANGUAGE)
    engine = open_engine(settings.address, settings.index)
    return partial(work_on, WorkerContext(engine, tables, settings, has_ended, lambda: time_limit(SIGN_SECONDS)))


def work_on(context: WorkerContext, sent: SentBatch, deaths: int = 0) -> None:
    """Sign and write a batch that processes have ended with so often."""
    run, number, documents = sent
    sign_and_write(context, Delivery(run, Batch(number, list(map(orjson.loads, documents))), died=deaths > 0))


def _log_batch(result: BatchResult, stages: Stages, tries: int, rejections: int = 0) -> None:
    """Log the result of a batch; run and batch come from the log context."""
    for refusal in result.refusals:
        _log.info("document refused", extra={"document": refusal.id, "field": refusal.field, "why": refusal.why})
    if _log.isEnabledFor(logging.INFO):
        counts = {name: getattr(result, name) for name in ("documents", "indexed", "unchanged", "stale")}
        seldom = {"tries": tries, "rejections": rejections}
        counts |= {"refused": len(result.refusals)} | stages.ms()
        _log.info("batch done", extra=counts | {name: count for name, count in seldom.items() if count})


def _with_retries(context: WorkerContext, call: Callable[[], Answer]) -> Answer:
    return retry_unavailable(call, context.settings.patience, context.has_ended)


def _begin(engine: Engine, delivery: Delivery) -> int | BatchResult:
    """Return how often a batch ended its worker, counted here, or its result if it has one."""
    key, tries_key = delivery.key, f"{delivery.key}{TRIES}"
    entries = engine.get_records_by_key("runs", [key, tries_key])
    if key in entries:
        return read_account(entries[key])
    tries, is_single = read_tries(entries.items()).get(tries_key, 0) + delivery.died, delivery.batch.part is not None
    if delivery.died or is_single:  # a single document is counted as it begins, since it cannot be told which one died
        engine.put_records("runs", {tries_key: {"tries": tries + is_single}})
    return tries


def _note(engine: Engine, delivery: Delivery, result: BatchResult, letters: Sequence[DeadLetter]) -> None:
    if letters:
        add_dead_letters(engine, letters)
    engine.put_records("runs", {delivery.key: result.as_json()})


def _process_or_split(context: WorkerContext, delivery: Delivery) -> tuple[BatchResult, Sequence[DeadLetter]]:
    batch = delivery.batch
    if delivery.tries < context.settings.tries:
        account = _process(context, delivery)
    elif len(batch.records) == 1:
        account = BatchResult(refusals=[_refusal(delivery, f"it crashed its worker {delivery.tries} times")])
    else:
        _log.warning(
            "batch ended its workers and is done document by document",
            extra={"tries": delivery.tries, "documents": len(batch.records)},
        )
        singles = (replace(delivery, batch=each, died=False, again=True, stages=Stages()) for each in batch.singles())
        return sum((sign_and_write(context, single) for single in singles), BatchResult()), ()
    account = replace(account, refusals=[printable(refusal) for refusal in account.refusals])
    return account, _letters(delivery, account.refusals)


def _process(context: WorkerContext, delivery: Delivery) -> BatchResult:
    """Sign and write a batch: each portion of the maximum write size is signed while earlier ones are written.

    A batch with a repeated id stays whole: which of two documents of one id is the newer is decided where both are
    written together.
    """
    batch, parts = delivery.batch, [delivery]
    repeats = len({printable_id(record) for record in batch.records}) < len(batch.records)
    if context.engine.parallel_writes and not repeats:
        portions = batch.portions(context.settings.batch_characters // WRITES)
        parts = [replace(delivery, batch=portion) for portion in portions]
    calls = (call for part in parts for call in _writes(context, part))
    return sum(overlap(calls, WRITES if len(parts) > 1 else 1), BatchResult())


def _writes(context: WorkerContext, delivery: Delivery) -> Iterator[Callable[[], BatchResult]]:
    """Sign a portion, or its documents one by one if that fails; yields the calls that write them."""
    try:
        with delivery.stages("read"):
            documents, refusals = _read(delivery, context.settings.max_text)
        with delivery.stages("sign"), context.time_limit():
            signed = list(records(documents, context.tables, context.settings.distinct))
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 - an error of one document becomes its refusal, and the others go on
        if len(delivery.batch.records) > 1:
            for single in delivery.batch.singles():
                yield from _writes(context, replace(delivery, batch=replace(single, part=delivery.batch.part)))
        else:
            account = BatchResult(refusals=[_refusal(delivery, f"{type(error).__name__}: {error}")])
            yield lambda: account
        return
    yield partial(_write, context, delivery, signed, refusals)


def _write(
    context: WorkerContext, delivery: Delivery, signed: Sequence[Record], refusals: Sequence[Refusal] = ()
) -> BatchResult:
    """Write documents by one request, or one by one if that fails; refusals of others are added."""
    try:
        return BatchResult(refusals=refusals) + _account(signed, _outcomes(context, delivery, signed))
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 - an error of one document becomes its refusal
        reason = f"{type(error).__name__}: {error}"
    if len(signed) == 1:
        document = signed[0].document
        return BatchResult(refusals=[*refusals, _document_refusal(document.where, document.id, reason)])
    return sum((_write(context, delivery, [record]) for record in signed), BatchResult(refusals=refusals))


def _outcomes(context: WorkerContext, delivery: Delivery, signed: Sequence[Record]) -> list[Outcome]:
    calls: list[int] = []

    def write() -> list[Outcome]:
        calls.append(len(signed))
        return context.engine.write(signed)

    with delivery.stages("write"):
        outcomes = _with_retries(context, write)
    if delivery.tries or delivery.died or delivery.again or len(calls) > 1:
        return list(starmap(_own_outcome, zip(outcomes, signed, strict=True)))
    return outcomes


def _account(signed: Sequence[Record], outcomes: Sequence[Outcome]) -> BatchResult:
    by_status: defaultdict[WriteStatus, list[tuple[Record, Outcome]]] = defaultdict(list)
    for record, outcome in zip(signed, outcomes, strict=True):
        by_status[outcome.status].append((record, outcome))
    indexed, unchanged = by_status[WriteStatus.INDEXED], by_status[WriteStatus.UNCHANGED]
    refused = ((record.document.where, each) for record, each in by_status[WriteStatus.REFUSED])
    return BatchResult(
        indexed=len(indexed),
        unchanged=len(unchanged),
        stale=len(by_status[WriteStatus.STALE]),
        # Another version; writes of earlier tries of the message do not count.
        replaced=sum(outcome.previous_version not in (None, record.version) for record, outcome in indexed),
        unsigned=sum(not record.signatures.length for record, _ in (*indexed, *unchanged)),
        refusals=[Refusal(where, each.id, each.field, each.why) for where, each in refused],
        languages=Counter(record.document.language for record in signed),
    )


def _read(delivery: Delivery, max_text: int) -> tuple[list[Document], list[Refusal]]:
    documents, refusals = [], []
    max_version = time.time_ns() // 1_000 + A_DAY
    for record in delivery.batch.records:
        location = place(record, delivery.where)
        try:
            document = read_record(record, location, max_text, "")
        except Refused as error:
            refusals.append(error.refusal)
            continue
        if document.version is None or document.version <= max_version:
            documents.append(document)
            continue
        reason = f"{document.version} is larger than {max_version}, so that nothing newer could replace the document"
        remedy = "write smaller ones: a time in microseconds, not later than tomorrow"
        refusals.append(Refusal(location, document.id, "version", f"{reason}; {remedy}"))
    return documents, refusals


def _own_outcome(outcome: Outcome, record: Record) -> Outcome:
    """Return the outcome; a document written by an earlier try of the message counts as written."""
    if outcome.status is WriteStatus.UNCHANGED and outcome.previous_version == record.version:
        return replace(outcome, status=WriteStatus.INDEXED)
    return outcome


def _refusal(delivery: Delivery, reason: str) -> Refusal:
    record = delivery.batch.records[0]
    return _document_refusal(place(record, delivery.where), printable_id(record), reason)


def _document_refusal(location: str, id_: str, reason: str) -> Refusal:
    return Refusal(location, id_, "", f"{reason}; look at it with: ibidem status --dead {id_}")


def _letters(delivery: Delivery, refusals: Sequence[Refusal]) -> list[DeadLetter]:
    if not refusals:
        return []
    received = {(place(record, delivery.where), printable_id(record)): record for record in delivery.batch.records}
    found = ((each, writable(received.get((each.where, each.id), {}))) for each in refusals)
    return [DeadLetter(delivery.run, each, delivery.tries + 1, time.time(), record) for each, record in found]
