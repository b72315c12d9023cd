"""Run of an ingest, from the command line or a program: documents are cut into batches, which workers sign and write.

With a broker, `ibidem worker` takes the batches from a queue; without one, they are done by processes of this one, or
in this process where its files hold few documents.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path

import orjson
import xxhash

from ibidem_core.errors import EngineError, Unavailable, retry_unavailable
from ibidem_core.settings import Settings, load
from ibidem_engines.connect import check_distinct, open_engine
from ibidem_engines.engine import Engine, Info
from ibidem_engines.ledger import SIGN_AGAIN, GroupCheckpoint, OwnRecord
from ibidem_ingest.document import Document, has_unread_date
from ibidem_ingest.errors import Refusal, UsageError, short_repr
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Choice, Tally
from ibidem_workers import batches, runs, tasks
from ibidem_workers.celery_app import connect_broker, make_app, send
from ibidem_workers.executors import Pool, this_process
from ibidem_workers.groups.follower import settle_all

MAX_REPEATS = 20  # repeated ids that are kept to be shown
MAX_DAMAGED = 20  # files with replaced bytes that a run names

REFUSALS_A_SLICE = 500
NOTED_EVERY = 2.0  # seconds between two notes of a run that is being read

SMALL_BATCH, SMALL_TEXT = 50, 500_000  # documents, and their characters, that are signed before a process starts
IN_HAND = 3  # batches for each process of this one
IN_FLIGHT = 40  # batches in the broker's queue beyond which the submission pauses
LOOKS_EVERY = 0.2
WARNS_AFTER = 30.0  # seconds without a result after which a run says that there may be no worker
STALL_LEASES = 6.0  # leases without a result after which batches are sent again: a broker may have lost them

_log = logging.getLogger(__name__)

Source = Iterable[Document | Refusal]
Report = Callable[[runs.Progress], None]


class Interruption(EngineError):
    """A run was interrupted; everything sent so far is kept."""


class ToBroker:
    """Batches go to the queue of a broker, whose workers keep their errors."""

    window = IN_FLIGHT  # batches under way beyond which the submission pauses

    def __init__(self, settings: Settings) -> None:
        self._app, self._patience = make_app(settings), settings.patience

    def send(self, run: str, batch: batches.SerializedBatch, *, again: bool = False) -> None:
        documents = [orjson.Fragment(each.json) for each in batch.documents]
        retry_unavailable(lambda: send(self._app, run, batch.number, documents, again=again), self._patience)


class ToProcesses(ExitStack):
    """Batches go to processes of this one; the only batch of a small run is done here, before another would start."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        super().__init__()
        self.window = IN_HAND * settings.workers
        self._engine, self._settings = engine, settings
        self._held = list[tasks.SentBatch]()  # the first batch, while it may be the only one
        self._futures = list[Future[None]]()

    @cached_property
    def _pool(self) -> "Pool[tasks.SentBatch, None]":
        return self.enter_context(Pool(partial(tasks.open_signing, self._settings), self._settings.workers))

    def send(self, run: str, batch: batches.SerializedBatch, *, again: bool = False) -> None:  # noqa: ARG002 - none is lost
        """Hand a batch to the pool; the first waits whether another comes, if it is small."""
        sent = run, batch.number, [each.json for each in batch.documents]
        characters = sum(each.characters for each in batch.documents)
        is_small = len(batch.documents) <= SMALL_BATCH and characters <= SMALL_TEXT
        if batch.number == 0 and is_small and not runs.may_be_harmful(self._engine, run):
            self._held.append(sent)
            return
        self._futures += map(self._pool.submit, [*self._held, sent])
        self._held.clear()

    def finish(self) -> None:
        """Do the batch that has waited."""
        for sent in self._held:
            context = tasks.WorkerContext(
                self._engine, Tables(self._settings.tables, self._settings.index), self._settings
            )
            tasks.work_on(context, sent)

    def check(self) -> None:
        """Raise the error of a batch."""
        for future in [each for each in self._futures if each.done()]:
            self._futures.remove(future)
            future.result()


class Submission:
    """A run being submitted, with its progress in `record`; if waited for, it pauses, and sends again what stalls."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        sender: ToBroker | ToProcesses,
        paths: Sequence[str | Path] = (),
        tally: Tally | None = None,
    ) -> None:
        self.record = runs.RunRecord(runs.new_run(), [str(path) for path in paths], time.time(), holder=this_process())
        self._engine, self._settings, self._sender = engine, settings, sender
        self._processes = sender if isinstance(sender, ToProcesses) else None  # without it, nothing goes on
        self._report: Report | None = None  # of a run that is waited for
        self._head = OwnRecord(engine, "runs", self.record.key)
        self._patience = float(settings.patience)
        self._tally = tally or Tally()
        # As 64-bit hashes, of which two of a million ids share one with a probability of 3 in 100 million (n²/2⁶⁵).
        self._seen_ids, self._repeated_ids = set[int](), set[int]()
        self._refusals: list[Refusal] = []
        self._slices = 0
        self._under_way: dict[int, batches.SerializedBatch] = {}
        self._stalls_after = float(STALL_LEASES * settings.lease)
        self._last_note = self._last_look = 0.0
        self._last_sent = time.monotonic()
        self._is_warned = False

    def send_and_wait(self, source: Source, report: Report) -> None:
        """Send all documents and wait for their results; `report` is called after each look and may raise to stop."""
        self._report = report
        try:
            self.send(source)
            self._wait_for_fewer(1)
            self._monitor.wait(report)
        except KeyboardInterrupt as error:
            run, sent = self.record.run, "" if self._processes else "; documents already sent are in the queue"
            remedy = f"{runs.REPEAT_REMEDY}; progress: ibidem status {run}"
            raise Interruption(f"run {run} was stopped{sent}", remedy) from error

    def send(self, source: Source) -> runs.RunRecord:
        """Send all documents and record the refusals; the run counts as interrupted if that breaks off."""
        self.record.joined = retry_unavailable(lambda: GroupCheckpoint.read(self._engine).joined, self._patience)
        self._note("reading")
        self._log_event("run begun")
        try:
            for batch in batches.cut(self._documents(source), self._settings.batch_characters):
                self._send(batch)
            self._note_refusals()
            if self._processes:
                self._processes.finish()
                self._wait_for_fewer(1)
        except BaseException:
            self._patience = 0.0
            with suppress(EngineError):  # the error that stopped the run is the one to report
                self._note_refusals()
                self._note("interrupted")
            self._log_event("run interrupted")
            raise
        self._note("submitted")
        self._log_event("run submitted")
        return self.record

    def _documents(self, source: Source) -> Iterator[batches.SerializedDocument]:
        version = 0
        for number, item in enumerate(source, 1):
            if isinstance(item, Refusal):
                self._refuse(item)
                continue
            version = max(version + 1, time.time_ns() // 1_000)
            location = item.where or f"document {number}"
            try:
                document = batches.serialize(item, version, location)
                reason = self._refusal_reason(document.json)
            except TypeError as error:
                reason = f"it is not JSON: {error}"
            if reason:
                self._refuse(Refusal(location, item.id, "meta", reason))
            else:
                self._see(document.id)
                self._tally.unread_dates += has_unread_date(item)
                yield document

    def _see(self, id_: str) -> None:
        """Count an id that occurs again, once, and keep the first of them to be shown."""
        hash_ = xxhash.xxh3_64_intdigest(id_.encode())
        if hash_ in self._seen_ids and hash_ not in self._repeated_ids:
            self._repeated_ids.add(hash_)
            self.record.repeated += 1
            self.record.repeated_ids += [id_] * (len(self.record.repeated_ids) < MAX_REPEATS)
        self._seen_ids.add(hash_)

    def _refusal_reason(self, record: bytes) -> str:
        """Return why a record cannot be sent; empty if it can."""
        size, limit = len(record), batches.most_of_record(self._settings)
        if size > limit:
            return f"the document has {size:,} bytes as JSON, at most {limit:,} are allowed; shorten its other fields"
        too_dense = "it contains too many lists and numbers; leave out those that do not describe the document"
        return too_dense if batches.too_dense(record) else ""

    def _send(self, batch: batches.SerializedBatch) -> None:
        began = time.perf_counter()
        self._sender.send(self.record.run, batch)
        if self._report:
            self._under_way[batch.number] = batch
            if time.monotonic() - self._last_look > max(LOOKS_EVERY, self._monitor.pause):
                self._look()
            self._wait_for_fewer(self._sender.window)
        event = {"batch": batches.batch_key(self.record.run, batch.number), "documents": len(batch.documents)}
        _log.debug("batch sent", extra=event | {"send_ms": round(1e3 * (time.perf_counter() - began), 1)})
        self.record.batches += 1
        self.record.documents += len(batch.documents)
        if time.monotonic() - self._last_note > NOTED_EVERY:
            self._note("reading")

    @cached_property
    def _monitor(self) -> runs.RunMonitor:
        return runs.RunMonitor(self._engine, self.record.run, self._settings.patience)

    def _wait_for_fewer(self, batches_under_way: int) -> None:
        while len(self._under_way) >= batches_under_way:
            time.sleep(self._monitor.pause)
            self._look()

    def _look(self) -> None:
        """Read new results, report progress, and send batches again if nothing has been done for long."""
        if self._processes:
            self._processes.check()
        progress = self._monitor.look()
        self._last_look = time.monotonic()
        for number in list(filter(self._monitor.is_done, self._under_way)):
            del self._under_way[number]
        if not self._processes:
            self._tend(progress.idle)
        if self._report:
            self._report(progress)

    def _tend(self, idle: float) -> None:
        """Warn once if no worker takes a batch: it may be missing, or take those of another index; send them again."""
        if idle > WARNS_AFTER and not self._is_warned:
            self._is_warned = True
            _log.warning(
                "no worker has finished a batch of run %s in %d seconds; each index has workers of its own: "
                "start some with the same settings: IBIDEM_INDEX=%s ibidem worker",
                self.record.run,
                idle,
                self._settings.index,
            )
        if min(idle, self._last_look - self._last_sent) > self._stalls_after:
            for batch in self._under_way.values():
                self._sender.send(self.record.run, batch, again=True)
            self._last_sent, self._stalls_after = time.monotonic(), 2 * self._stalls_after

    def _refuse(self, refusal: Refusal) -> None:
        self.record.refused += 1
        event = {"run": self.record.run, "place": refusal.where, "document": refusal.id, "why": refusal.why}
        _log.info("document refused", extra=event)
        self._refusals.append(refusal)
        if len(self._refusals) == REFUSALS_A_SLICE:
            self._note_refusals()

    def _note_refusals(self) -> None:
        if self._refusals:
            key = f"{self.record.run}/refused/{self._slices:06d}"
            entries = {key: {"refusals": batches.refusals_as_json(self._refusals)}}
            retry_unavailable(lambda: self._engine.put_records("runs", entries), self._patience)
            self._refusals, self._slices = [], self._slices + 1

    def _log_event(self, event: str) -> None:
        names = ("run", "documents", "batches", "refused")
        _log.info(event, extra={name: getattr(self.record, name) for name in names})

    def _note(self, state: runs.State) -> None:
        self.record.state = state
        self.record.meta_fields = sorted(self._tally.moved)
        self.record.passed_over = dict(self._tally.skipped_files)
        self.record.unread_dates = self._tally.unread_dates
        self.record.damaged_bytes = dict(self._tally.damaged_bytes.most_common(MAX_DAMAGED))
        self._last_note = time.monotonic()
        retry_unavailable(lambda: self._head.write(asdict(self.record)), self._patience)


def check_tables(signed: Info, index: str, tables: Tables) -> None:
    """Refuse to add documents to an index signed with another table of the same language.

    A table that this folder does not hold cannot be judged; `ibidem doctor` names it.
    """
    for name, documents in signed.tables.items():
        table = tables.named(name) if name else None
        now = tables.of(table.language) if table else None
        if table and now and now.name != name:
            what = f"index {index!r} holds {documents:,} documents signed with the idf table {name}, "
            what += f"and {now.name} is now the one of {table.language!r}"
            raise UsageError(what, f"{SIGN_AGAIN}; or go back with: ibidem idf use {name}")


def ingest(  # noqa: PLR0913 - the options of one command, each by its name
    paths: Sequence[str | Path],
    settings: Settings,
    *,
    choice: Choice | None = None,
    note: Callable[[Document | Refusal], Document | Refusal] | None = None,
    wait: bool = True,
    report: Report = lambda _: None,
) -> str:
    """Ingest files and folders; `-` is standard input. `note` sees each item that is read."""
    tally = Tally()
    source = read(
        paths, choice or Choice(), settings.max_text, tally, settings.read_seconds, processes=settings.workers
    )
    source = map(note, source) if note else source
    return ingest_documents(source, settings, wait=wait, report=report, tally=tally, paths=paths)


def ingest_documents(  # noqa: PLR0913 - the options of one command, each by its name
    source: Source,
    settings: Settings,
    *,
    wait: bool = True,
    report: Report = lambda _: None,
    tally: Tally | None = None,
    paths: Sequence[str | Path] = (),
) -> str:
    """Ingest documents, as `ingest` does; refusals among them are recorded."""
    if not wait and not settings.broker.startswith("amqp"):
        why = "Redis may lose one" if settings.broker else "no broker keeps it"
        what = f"without waiting, no one sends a batch again that was lost, and {why}"
        raise UsageError(what, "wait, or set IBIDEM_BROKER to RabbitMQ: amqp://HOST")
    with closing(open_engine(settings.address, settings.index)) as engine, ExitStack() as stack:
        sender = ToBroker(settings) if settings.broker else stack.enter_context(ToProcesses(engine, settings))
        is_new = _prepare(engine, settings)
        submission = Submission(engine, settings, sender, paths, tally)
        if not wait:
            return submission.send(source).run
        engine.group_set()  # groups that cannot be settled are refused before anything is written
        if is_new and not settings.broker:
            source = Tables(settings.tables, settings.index).look_through_first(source, settings.index)
        submission.send_and_wait(source, report)
        retry_unavailable(lambda: settle_all(engine), settings.patience)
        return submission.record.run


def _prepare(engine: Engine, settings: Settings) -> bool:
    """Create the index if missing, and return whether it is empty; refuse one that cannot be written, or no broker."""
    engine.create()
    for issue in engine.health_issues():
        if issue.stops:  # such as a missing shard, which a write would wait for
            raise Unavailable(issue.what, issue.remedy)
    signed = engine.info()
    check_tables(signed, engine.index, Tables(settings.tables, settings.index))
    check_distinct(engine, settings.distinct, writes=True)
    if settings.broker:
        connect_broker(settings)
    return not signed.documents


def retry(ids: Sequence[str], settings: Settings, *, wait: bool = True, report: Report = lambda _: None) -> str:
    """Ingest the documents of dead letters again, as a new run; the letters are removed once they are queued."""
    with closing(open_engine(settings.address, settings.index)) as engine:
        letters = tasks.letters(engine, ids)
        source = tasks.read_again(letters, settings.max_text)
        run = ingest_documents(source, settings, wait=wait, report=report, paths=["dead letters"])
        tasks.forget(engine, letters)
        return run


def submit(
    documents: Iterable[Document | Refusal], settings: Settings | None = None, *, wait: bool = True
) -> dict[str, object]:
    """Sign documents and write them into the index.

    Args:
        documents: Documents from `read`, `read_record` or made by hand; refusals among them are noted.
        settings: Where to; read from environment and files when None.
        wait: Whether to wait until every document is accounted for; not to wait needs RabbitMQ.

    Returns:
        State of the run, as `ibidem ingest --json` prints it.

    Raises:
        UsageError: An item is not a document; those before it are in the index, or in the queue.
        Unavailable: Engine or broker did not answer.
    """
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise UsageError(f"{short_repr(documents)} is not a list of documents", "give a list: [Document(id, text), …]")
    settings = settings or load()
    run = ingest_documents(map(_document, documents), settings, wait=wait)
    with closing(open_engine(settings.address, settings.index)) as engine:
        return runs.summary(engine, run)


def _document(value: object) -> Document | Refusal:
    """Refuse a value that is neither a document nor a refusal; fields are checked at signing."""
    if not isinstance(value, Document | Refusal):
        raise UsageError(f"{short_repr(value)} is not a document", "create one with Document(id, text) or read_record")
    return value
