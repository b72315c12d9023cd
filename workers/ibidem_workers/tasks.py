"""Work on a batch: reads, signs and writes its documents, and records the result in the ledger.

The ledger keeps the promises: a try is counted before work begins, the result is recorded before the batch is
acknowledged, and a batch that was tried too often is done document by document. Whoever runs a batch runs it again.

Dead letters: documents that could not be ingested, stored with the reason for a retry. Of a document that cannot be
stored, the id and the beginning of its JSON are kept.
"""

import faulthandler
import json
import logging
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TypeVar

import orjson

from ibidem_core import logs
from ibidem_core.errors import EngineError, parse_record, retry_unavailable
from ibidem_core.logs import Stages, log_context
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_engines.ledger import read_ledger
from ibidem_ingest.document import ORIGIN, Document, place, printable_id, read_record
from ibidem_ingest.errors import Refusal, Refused, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers.formats import text_hash
from ibidem_workers import batches

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Write = Callable[[], batches.BatchResult]  # writes documents that were signed, and counts them

_log = logging.getLogger(__name__)

A_DAY = 24 * 60 * 60 * 1_000_000  # in microseconds, as the submitter numbers documents: clocks differ, but not by that

WARM_LANGUAGE = "en"  # language whose idf table is loaded before the first batch

# The interpreter's own watchdog, which also runs while a library blocks all other threads, watches one block at a time.
_WATCHED = Lock()

SIGN_SECONDS = 600.0  # seconds that signing a batch may take: the process is ended, and another one tries the batch


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Exit this process, with its stack on standard error, if the block takes too long."""
    with _WATCHED:
        faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or sys.stderr)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What a process signs documents with, and where it writes them."""

    engine: Engine  # where documents and accounts are written
    tables: Tables  # the idf tables
    settings: Settings  # limits and waiting times
    # Returns whether the process was asked to end, so that it stops waiting.
    has_ended: Callable[[], bool] = lambda: False
    # Context that ends the process when its block takes too long.
    time_limit: Callable[[], AbstractContextManager[object]] = nullcontext

    def retry(self, call: Callable[[], Answer]) -> Answer:
        """Wait for an engine that does not answer, and call again."""
        return retry_unavailable(call, self.settings.patience, self.has_ended)


def do_batch(  # noqa: PLR0913, PLR0917 - a batch, and what is done with documents of it
    context: WorkerContext,
    key: str,
    documents: Sequence[Item],
    tries: int,
    do: Callable[[Sequence[Item]], batches.BatchResult],
    refuse: Callable[[Item, str], Refusal],
    why: str,  # of the refusal of a document that ends its process too often; it may name how often
) -> batches.BatchResult:
    """Do the documents of a batch; after too many tries of it one by one, and each try is counted before it begins."""
    if tries < context.settings.tries:
        return do(documents)
    extra = {"tries": tries, "documents": len(documents)}
    _log.warning("batch ended its workers and is done document by document", extra=extra)
    keys = [f"{key}/{number:06d}" for number in range(len(documents))]
    asked = [*keys, *(f"{each}{batches.TRIES}" for each in keys)]
    entries = context.retry(lambda: context.engine.get_records_by_key("runs", asked))
    counts = batches.read_tries(entry for entry in entries.items() if entry[0].endswith(batches.TRIES))
    account, noted = batches.BatchResult(), dict[str, dict[str, object]]()
    for each, document in zip(keys, documents, strict=True):
        count = counts.get(f"{each}{batches.TRIES}", tries if len(documents) == 1 else 0)
        if each in entries:
            account += batches.read_account(entries[each])
        elif count >= context.settings.tries:
            account += batches.BatchResult(refusals=[refuse(document, why.format(count))])
        else:
            noted |= {f"{each}{batches.TRIES}": {"tries": count + 1}}
            context.retry(partial(context.engine.put_records, "runs", noted))
            result = do([document])
            account, noted = account + result, {each: result.as_json()}
    return account


def write_portions(
    portions: Iterable[tuple[Sequence[Item], Callable[[], Write]]],
    sign: Callable[[Sequence[Item]], Write],
    refuse: Callable[[Item, str], Refusal],
    at_once: int,
) -> batches.BatchResult:
    """Sign portions of a batch, each by its call, and write each in a thread while the next is signed.

    The documents of a portion that fails are signed and written one by one, so that a faulty one affects no other.
    """

    def write(items: Sequence[Item], signed: Callable[[], Write]) -> batches.BatchResult:
        try:
            return signed()()
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - an error of one document becomes its refusal
            if len(items) == 1:
                return batches.BatchResult(refusals=[refuse(items[0], f"{type(error).__name__}: {error}")])
        return sum((write([each], partial(sign, [each])) for each in items), batches.BatchResult())

    calls = (partial(write, items, attempt(signing)) for items, signing in portions)
    return sum(batches.overlap(calls, at_once), batches.BatchResult())


def attempt(call: Callable[[], Answer]) -> Callable[[], Answer]:
    """Make a call; return a function that returns its answer or raises its error, in whichever thread."""
    future = Future[Answer]()
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - it is raised where the answer is asked for
        future.set_exception(error)
    return future.result


def count_outcomes(written: Iterable[tuple[str, Record, Outcome]]) -> batches.BatchResult:
    """Count what became of documents, of which each is given with the place that a refusal names."""
    by_status: defaultdict[WriteStatus, list[tuple[str, Record, Outcome]]] = defaultdict(list)
    for each in written:
        by_status[each[2].status].append(each)
    indexed, unchanged = by_status[WriteStatus.INDEXED], by_status[WriteStatus.UNCHANGED]
    refused = by_status[WriteStatus.REFUSED]
    return batches.BatchResult(
        indexed=len(indexed),
        unchanged=len(unchanged),
        stale=len(by_status[WriteStatus.STALE]),
        # Another version; writes of earlier tries of the message do not count.
        replaced=sum(outcome.previous_version not in (None, record.version) for _, record, outcome in indexed),
        unsigned=sum(not record.signatures.length for _, record, _ in (*indexed, *unchanged)),
        refusals=[Refusal(where, outcome.id, outcome.field, outcome.why) for where, _, outcome in refused],
    )


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a batch to a worker."""

    run: str  # the run that it belongs to
    number: int  # its place in the run, from 0
    records: list[batches.SentRecord]  # the documents as `Document.as_record` returns them, each with its version
    died: bool = False  # whether a worker has ended with it in hand since it was last handed out
    again: bool = False  # whether an earlier try may have written some of it
    tries: int = 0  # how often it was tried before, by the ledger
    stages: Stages = field(default_factory=Stages)  # how long each stage takes

    @property
    def key(self) -> str:
        return batches.batch_key(self.run, self.number)

    def place(self, record: batches.SentRecord) -> str:
        """Return the place of a document; the message for one without an origin."""
        return place(record, f"message {self.key}")

    def refuse(self, record: batches.SentRecord, reason: str) -> Refusal:
        """Return the refusal of a document that failed, in a form that every engine can store."""
        id_ = printable_id(record)
        return printable(Refusal(self.place(record), id_, "", f"{reason}; look at it with: ibidem status --dead {id_}"))


def sign_and_write(context: WorkerContext, delivery: Delivery) -> batches.BatchResult:
    """Sign and write a batch, unless it has a result; that is stored first, so that its message can be acknowledged."""
    engine, key, tries_key = context.engine, delivery.key, f"{delivery.key}{batches.TRIES}"
    with log_context(run=delivery.run, batch=key):
        entries = context.retry(lambda: engine.get_records_by_key("runs", [key, tries_key]))
        if key in entries:
            return batches.read_account(entries[key])
        tries = min(batches.read_tries(entries.items()).get(tries_key, 0) + delivery.died, context.settings.tries)
        if delivery.died:
            context.retry(lambda: engine.put_records("runs", {tries_key: {"tries": tries}}))
        delivery, rejections = replace(delivery, tries=tries), engine.rejections
        process, why = partial(_process, context, delivery), "it crashed its worker {} times"
        account = do_batch(context, key, delivery.records, tries, process, delivery.refuse, why)
        with delivery.stages("note"):
            context.retry(lambda: _note(engine, delivery, account))
        _log_batch(account, delivery.stages, tries, engine.rejections - rejections)
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
    sign_and_write(context, Delivery(run, number, list(map(orjson.loads, documents)), died=deaths > 0))


def _log_batch(result: batches.BatchResult, stages: Stages, tries: int, rejections: int = 0) -> None:
    """Log the result of a batch; run and batch come from the log context."""
    for refusal in result.refusals:
        _log.info("document refused", extra={"document": refusal.id, "field": refusal.field, "why": refusal.why})
    if _log.isEnabledFor(logging.INFO):
        counts = {name: getattr(result, name) for name in ("documents", "indexed", "unchanged", "stale")}
        seldom = {"tries": tries, "rejections": rejections}
        counts |= {"refused": len(result.refusals)} | stages.ms()
        _log.info("batch done", extra=counts | {name: count for name, count in seldom.items() if count})


def _process(context: WorkerContext, delivery: Delivery, sent: Sequence[batches.SentRecord]) -> batches.BatchResult:
    """Sign and write documents of a batch: a portion of the maximum write size is signed while others are written.

    A batch with a repeated id stays whole: which of two documents of one id is the newer is decided where both are
    written together.
    """

    def sign(part: Sequence[batches.SentRecord]) -> Write:
        with delivery.stages("read"):
            documents, refusals = _read(delivery, part, context.settings.max_text)
        with delivery.stages("sign"), context.time_limit():
            signed = list(batches.records(documents, context.tables, context.settings.distinct))
        return lambda: batches.BatchResult(refusals=refusals) + _write(context, delivery, signed)

    portions = [sent]
    if context.engine.parallel_writes and len({printable_id(record) for record in sent}) == len(sent):
        portions = batches.cut_records(sent, context.settings.batch_characters // batches.WRITES)
    signing = ((portion, partial(sign, portion)) for portion in portions)
    account = write_portions(signing, sign, delivery.refuse, batches.WRITES if len(portions) > 1 else 1)
    return replace(account, refusals=[printable(refusal) for refusal in account.refusals])


def _write(context: WorkerContext, delivery: Delivery, signed: Sequence[Record]) -> batches.BatchResult:
    """Write documents; those that an earlier try of the message wrote count as written."""
    calls: list[int] = []

    def write() -> list[Outcome]:
        calls.append(len(signed))
        return context.engine.write(signed)

    with delivery.stages("write"):
        outcomes = context.retry(write)
    if delivery.tries or delivery.again or len(calls) > 1:
        outcomes = list(map(_own_outcome, outcomes, signed))
    written = [(record.document.where, record, outcome) for record, outcome in zip(signed, outcomes, strict=True)]
    return replace(count_outcomes(written), languages=Counter(record.document.language for record in signed))


def _read(
    delivery: Delivery, sent: Sequence[batches.SentRecord], max_text: int
) -> tuple[list[Document], list[Refusal]]:
    documents, refusals = [], []
    max_version = time.time_ns() // 1_000 + A_DAY
    for record in sent:
        location = delivery.place(record)
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


def _note(engine: Engine, delivery: Delivery, result: batches.BatchResult) -> None:
    """Keep the refused documents as dead letters, then the result."""
    if result.refusals:
        received = {(delivery.place(record), printable_id(record)): record for record in delivery.records}
        found = ((each, writable(received.get((each.where, each.id), {}))) for each in result.refusals)
        tries, now = delivery.tries + 1, time.time()
        add_dead_letters(engine, [DeadLetter(delivery.run, each, tries, now, record) for each, record in found])
    engine.put_records("runs", {delivery.key: result.as_json()})


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One document that could not be ingested."""

    run: str  # the run that brought it
    refusal: Refusal  # where, which document, which field and why
    tries: int  # how often it was tried
    when: float  # the time of the last try, in seconds since 1970
    record: Mapping[str, object]  # the record as received

    @property
    def key(self) -> str:
        """Key in the ledger, unique per run, so that a failure in a later run does not overwrite it."""
        origin = self.document[1]
        return f"{self.run}/{self.refusal.id}" + (f"/{text_hash(origin)}" if origin else "")

    @property
    def document(self) -> tuple[str, str]:
        """Id and origin of the document, since documents of two files may have the same id."""
        return self.refusal.id, str(self.record.get(ORIGIN, ""))

    def as_json(self) -> dict[str, object]:
        """Return the entry for `ibidem status --dead --json`, with the field, the place and the run."""
        refusal, when = self.refusal, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.when))
        found = {"id": refusal.id, "why": refusal.why, "tries": self.tries, "when": when}
        return {**found, "field": refusal.field, "where": refusal.where, "run": self.run}


read_letter = partial(parse_record, DeadLetter)


def add_dead_letters(engine: Engine, letters: Iterable[DeadLetter]) -> None:
    engine.put_records("dead", {letter.key: asdict(letter) for letter in letters})


def letters(engine: Engine, ids: Collection[str] = ()) -> list[DeadLetter]:
    """Return the latest dead letter of each document, or of some documents."""
    last: dict[tuple[str, str], DeadLetter] = {}
    for _, letter in read_ledger(engine, "dead", read_letter):
        known = last.get(letter.document)
        if (not ids or letter.refusal.id in ids) and (known is None or known.when < letter.when):
            last[letter.document] = letter
    missing = sorted(set(ids) - {id_ for id_, _ in last})
    if missing:
        raise UsageError(f"no failed document {', '.join(map(repr, missing))}", "list them with: ibidem status --dead")
    return list(last.values())


def read_again(letters: Iterable[DeadLetter], max_text: int) -> Iterator[Document | Refusal]:
    """Read the documents of dead letters again, with their original versions, so that newer versions win."""
    for letter in letters:
        try:
            location = place(letter.record, f"failed document of run {letter.run}")
            yield read_record(letter.record, location, max_text, "")
        except Refused as error:
            yield error.refusal


def forget(engine: Engine, letters: Iterable[DeadLetter]) -> None:
    """Delete dead letters, and older ones of the same documents."""
    last = {letter.document: letter.when for letter in letters}
    known = (letter for _, letter in read_ledger(engine, "dead", read_letter))
    engine.delete_records("dead", [each.key for each in known if each.when <= last.get(each.document, 0.0)])


MAX_RECORD = 50 << 20  # bytes of a record that is kept whole; engines take requests of twice that

RECORD_EXCERPT = 10_000  # characters that are kept of a larger record


def writable(record: Mapping[str, object]) -> Mapping[str, object]:
    """Return a record that every engine can store: the same, or its id with the beginning of its JSON.

    >>> writable({"id": "a", "text": 1 << 64})
    {'id': 'a', 'unwritable': '{"id": "a", "text": 18446744073709551616}'}
    """
    try:
        if len(orjson.dumps(record)) <= MAX_RECORD:
            return record
    except (TypeError, ValueError):
        pass
    origin = {ORIGIN: record[ORIGIN]} if ORIGIN in record else {}
    return {"id": printable_id(record)} | origin | {"unwritable": _as_text(record)[:RECORD_EXCERPT]}


def printable(refusal: Refusal) -> Refusal:
    """Return a refusal that every engine can store, with lone surrogates escaped."""
    return Refusal(*(text.encode(errors="backslashreplace").decode() for text in astuple(refusal)))


def _as_text(record: Mapping[str, object]) -> str:
    try:
        return json.dumps(record)
    except (TypeError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
