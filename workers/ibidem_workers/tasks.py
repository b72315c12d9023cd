"""Celery task: read, sign and write a batch, record the result."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import starmap
from time import perf_counter

from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_engines.errors import EngineError
from ibidem_engines.records import records
from ibidem_ingest.document import Document, printable_id, read_record
from ibidem_ingest.errors import Refusal, Refused
from ibidem_ingest.idf.store import Tables
from ibidem_workers import dead_letters
from ibidem_workers.batches import Batch
from ibidem_workers.logs import log_context
from ibidem_workers.results import BatchResult
from ibidem_workers.retry import retry_unavailable
from ibidem_workers.settings import Settings
from ibidem_workers.writable import printable, writable


class Stages:
    """Adds up the time of each stage.

    >>> stages = Stages()
    >>> with stages("read"):
    ...     pass
    >>> list(stages.ms())
    ['read_ms', 'all_ms']
    """

    def __init__(self) -> None:
        self._began = perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count the time of a block to a stage."""
        began = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - began

    def ms(self) -> dict[str, float]:
        """Return the milliseconds of each stage, and of all since the start, as a log shows them."""
        all_of_it = perf_counter() - self._began
        return {f"{name}_ms": round(1e3 * each, 1) for name, each in (self._seconds | {"all": all_of_it}).items()}


_log = logging.getLogger(__name__)


def log_batch(account: BatchResult, stages: Stages, tries: int) -> None:
    """Log what became of a batch; run and batch are in every line that is logged meanwhile.

    Args:
        account: Of its documents.
        stages: How long each stage took.
        tries: How often it had ended its worker before.
    """
    if account.parts:
        event = {"tries": tries, "documents": account.parts}
        _log.warning("batch ended its workers and was sent again as single documents", extra=event)
        return
    for one in account.refusals:
        _log.info("document refused", extra={"document": one.id, "field": one.field, "why": one.why})
    if _log.isEnabledFor(logging.INFO):
        _log.info("batch done", extra=_sums(account) | stages.ms() | ({"tries": tries} if tries else {}))


def _sums(account: BatchResult) -> dict[str, object]:
    return {
        "documents": account.documents,
        "indexed": account.indexed,
        "unchanged": account.unchanged,
        "stale": account.stale,
        "refused": len(account.refusals),
    }


A_DAY = 24 * 60 * 60 * 1_000_000
"""In microseconds, as the submitter numbers documents: clocks differ, but not by that."""


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What a worker works with.

    Args:
        engine: Where documents and accounts are written.
        tables: The idf tables.
        settings: Limits and waiting times.
        ended: Tells whether the worker was asked to end, so that it waits for nothing any more.
        limited: Ends the worker when what is done in this context takes too long.
    """

    engine: Engine
    tables: Tables
    settings: Settings
    ended: Callable[[], bool] = lambda: False
    limited: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True, slots=True)
class Delivery:
    """One handing-out of a batch.

    Args:
        run: The run that it belongs to.
        batch: The documents.
        tries: How often it was handed out before and its worker ended.
        again: Whether an earlier try may have written some of it.
        stages: How long each stage takes.
    """

    run: str
    batch: Batch
    tries: int = 0
    again: bool = False
    stages: Stages = field(default_factory=Stages)

    @property
    def key(self) -> str:
        """The key of its account."""
        return self.batch.key(self.run)

    @property
    def where(self) -> str:
        """The place that a refusal names."""
        return f"message {self.key}"


def sign_and_write(context: WorkerContext, delivery: Delivery, send: Callable[[Batch], None]) -> BatchResult | None:
    """Take a batch through; its account is noted before this returns, so that the message may be acknowledged.

    A batch whose account is there is left alone. One that ended its workers too often is sent again as single
    documents, and a single one goes to the dead letters.

    Args:
        context: What the worker works with.
        delivery: The batch and its history.
        send: Sends a batch to the queue.

    Returns:
        The account, or None when there was one.

    Raises:
        Unavailable: The engine did not answer for as long as the settings allow; nothing is lost, try again.
        Permanent: The engine will not take anything more: its disk is full, or its index is another's.
    """
    with log_context(run=delivery.run, batch=delivery.key):
        if retry_unavailable(lambda: _is_noted(context.engine, delivery.key), context.settings.patience, context.ended):
            return None
        account, letters = _account(context, delivery, send)
        with delivery.stages("note"):
            retry_unavailable(
                lambda: _note(context.engine, delivery, account, letters), context.settings.patience, context.ended
            )
        log_batch(account, delivery.stages, delivery.tries)
        return account


def _is_noted(engine: Engine, key: str) -> bool:
    return engine.get_record("runs", key) is not None


def _note(engine: Engine, delivery: Delivery, account: BatchResult, letters: Sequence[dead_letters.DeadLetter]) -> None:
    if letters:
        dead_letters.add_dead_letters(engine, letters)
    engine.put_records("runs", {delivery.key: account.as_json()})


def _account(
    context: WorkerContext, delivery: Delivery, send: Callable[[Batch], None]
) -> tuple[BatchResult, Sequence[dead_letters.DeadLetter]]:
    batch = delivery.batch
    if delivery.tries < context.settings.tries:
        account = _whole(context, delivery)
    elif len(batch.records) > 1:
        parts = batch.singles()
        for part in parts:
            send(part)
        return BatchResult(parts=len(parts)), ()
    else:
        account = BatchResult(refusals=[_refusal(delivery, f"it ended its worker {delivery.tries} times")])
    account = replace(account, refusals=[printable(one) for one in account.refusals])
    return account, _letters(delivery, account.refusals)


def _whole(context: WorkerContext, delivery: Delivery) -> BatchResult:
    """Take a batch through at once, and where that fails its documents one by one."""
    try:
        return _taken(context, delivery)
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one document does, the others go on and it is accounted for
        if len(delivery.batch.records) == 1:
            return BatchResult(refusals=[_refusal(delivery, f"{type(error).__name__}: {error}")])
    account = BatchResult()
    for record in delivery.batch.records:
        account += _whole(context, replace(delivery, batch=replace(delivery.batch, records=[record])))
    return account


def _taken(context: WorkerContext, delivery: Delivery) -> BatchResult:
    stages, patience = delivery.stages, context.settings.patience
    calls: list[int] = []

    def write() -> list[Outcome]:
        calls.append(len(made))
        return context.engine.write(made)

    with stages("read"):
        documents, refusals = _read(delivery, context.settings.max_text, largest_version(context.settings.max_version))
    with stages("sign"), context.limited():
        made = list(records(documents, context.tables, context.settings.distinct))
    with stages("write"):
        outcomes = retry_unavailable(write, patience, context.ended)
    if delivery.tries or delivery.again or len(calls) > 1:
        outcomes = list(starmap(_own, zip(outcomes, made, strict=True)))
    refusals += [
        Refusal(delivery.where, one.id, one.field, one.why) for one in outcomes if one.fate is WriteStatus.REFUSED
    ]
    return BatchResult(
        indexed=_count(outcomes, WriteStatus.INDEXED),
        unchanged=_count(outcomes, WriteStatus.UNCHANGED),
        stale=_count(outcomes, WriteStatus.STALE),
        replaced=sum(map(_replaced, outcomes, made)),
        unsigned=sum(
            not record.signatures.length and outcome.fate in {WriteStatus.INDEXED, WriteStatus.UNCHANGED}
            for record, outcome in zip(made, outcomes, strict=True)
        ),
        refusals=refusals,
    )


def _read(delivery: Delivery, max_text: int, max_version: int) -> tuple[list[Document], list[Refusal]]:
    documents, refusals = [], []
    for record in delivery.batch.records:
        try:
            document = read_record(record, delivery.where, max_text)
        except Refused as refused:
            refusals.append(refused.refusal)
            continue
        if document.version is not None and document.version > max_version:
            why = f"{document.version} is larger than {max_version}, so that nothing newer could replace the document"
            remedy = "write smaller ones, or allow it: IBIDEM_MAX_VERSION"
            refusals.append(Refusal(delivery.where, document.id, "version", f"{why}; {remedy}"))
        else:
            documents.append(document)
    return documents, refusals


def largest_version(setting: int) -> int:
    """Return the largest version that a document may bring: that of the setting, else the time in a day.

    >>> largest_version(7)
    7
    """
    return setting or time.time_ns() // 1_000 + A_DAY


def _replaced(outcome: Outcome, record: Record) -> bool:
    """Return whether another version stood there; what an earlier try of this message wrote is none."""
    return outcome.fate is WriteStatus.INDEXED and outcome.before not in (None, record.version)


def _own(outcome: Outcome, record: Record) -> Outcome:
    """Count what an earlier try of this very message wrote as written."""
    if outcome.fate is WriteStatus.UNCHANGED and outcome.before == record.version:
        return replace(outcome, fate=WriteStatus.INDEXED)
    return outcome


def _count(outcomes: Sequence[Outcome], fate: WriteStatus) -> int:
    return sum(outcome.fate is fate for outcome in outcomes)


def _refusal(delivery: Delivery, why: str) -> Refusal:
    id_ = printable_id(delivery.batch.records[0])
    return Refusal(delivery.where, id_, "", f"{why}; look at it with: ibidem dead show {id_}")


def _letters(delivery: Delivery, refusals: Sequence[Refusal]) -> list[dead_letters.DeadLetter]:
    by_id = {printable_id(record): record for record in delivery.batch.records}
    return [
        dead_letters.DeadLetter(
            delivery.run, refusal, delivery.tries + 1, time.time(), writable(by_id.get(refusal.id, {}))
        )
        for refusal in refusals
    ]
