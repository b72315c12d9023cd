"""Run of an ingest, from the command line or a program: documents are cut into batches, which workers sign and write.

With a broker, `ibidem worker` takes the batches from a queue; without one, they are done by processes of this one, or
in this process where its files hold few documents.

Records, progress and summary of a run are read from the ledger alone, so that any process can show them.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import Literal

import orjson
import xxhash

from ibidem_core.errors import EngineError, Unavailable, parse_record, retry_unavailable
from ibidem_core.settings import Settings, load
from ibidem_engines.connect import check_distinct, open_engine
from ibidem_engines.engine import Engine, Info
from ibidem_engines.ledger import SIGN_AGAIN, GroupCheckpoint, OwnRecord, check_entry, read_entries, read_ledger
from ibidem_ingest.document import WHERE, Document, has_unread_date
from ibidem_ingest.errors import Refusal, UsageError, short_repr
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers.formats import Tally
from ibidem_workers import batches, tasks
from ibidem_workers.celery_app import connect_broker, make_app, send
from ibidem_workers.executors import Pool, has_exited, this_process
from ibidem_workers.groups.follower import settle_all

_log = logging.getLogger(__name__)

State = Literal["reading", "submitted", "interrupted"]

RUN_PREFIX = "run/"  # before the keys of the records themselves, so that all runs can be listed without their batches


@dataclass(slots=True)
class RunRecord:
    """The submitter's record of a run; the results of its batches are stored next to it."""

    run: str  # the run's name
    paths: list[str]  # the files and folders that were read
    started: float  # when reading began, in seconds since 1970
    state: State = "reading"  # whether it is being read, was read whole, or was broken off
    documents: int = 0  # documents that were handed to the queue
    batches: int = 0  # batches that were handed to the queue
    refused: int = 0  # documents that could not be read
    repeated: int = 0  # ids that occurred more than once
    repeated_ids: list[str] = field(default_factory=list)  # some of these ids
    meta_fields: list[str] = field(default_factory=list)  # unknown fields, which went into `meta`
    # Files in folders that no reader takes, by suffix: how many.
    passed_over: dict[str, int] = field(default_factory=dict)
    # For each file with bytes outside its encoding, how many were replaced.
    damaged_bytes: dict[str, int] = field(default_factory=dict)
    unread_dates: int = 0  # documents that have no date since theirs cannot be read
    holder: str = ""  # the process that reads; empty if an earlier version noted the run
    # How many documents had joined a group when it began, by level.
    joined: dict[str, int] = field(default_factory=dict)
    # Sum of the accounts of a follower that are no records of their own.
    followed: dict[str, object] = field(default_factory=dict)


parse_run = partial(parse_record, RunRecord)  # of a record as `asdict` returns it


def new_run() -> str:
    """Return a name for a run: the time, in a form that sorts, with the nanoseconds in eight hex digits."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d-%H%M%S}-{nanoseconds:08x}"


POLL = 0.05
LEVELS = ("identical", "near")
# How to continue a run that was broken off.
REPEAT_REMEDY = "run the same command again; documents already indexed are skipped (`unchanged`)"

LAST_RUNS = 10  # runs of the same files among which one that was broken off counts

WATCH_SHARE = 10  # one part in so many of the time may be spent on looking at the state of a run

INDEX_PATH = "index "  # begin of the path of a run that signs an index

NO_FILES = frozenset(("-", "dead letters"))  # paths of runs that name no files

# Seconds after which a run is looked at again, however long the last look took: it may have waited for an engine.
MAX_PAUSE = 5.0

# Blocks without an account, one after the other, behind which none is looked for: a record may name any number.
EMPTY_LOOKS = 10

# What a run's reader counts, as its summary shows it.
READER_COUNTS = ("repeated", "repeated_ids", "meta_fields", "passed_over", "damaged_bytes", "unread_dates")


@dataclass(frozen=True, slots=True)
class Progress:
    run: str  # its name
    documents: int  # documents handed to the queue so far
    done: int  # how many of them are accounted for
    batches: int  # batches handed to the queue so far
    batches_done: int  # how many of them are accounted for
    submitted: bool  # whether nothing more comes
    idle: float  # seconds since a batch was last accounted for, or none was under way

    @property
    def has_ended(self) -> bool:
        """Whether every document has an outcome, and no more documents will come."""
        return self.submitted and self.batches_done >= self.batches  # a killed submitter may have sent more


BLOCK = 100  # batches whose results are read together, by key, which needs no refresh


class RunMonitor:
    """Monitor of one run."""

    def __init__(self, engine: Engine, run: str, patience: float = 0.0) -> None:
        self._engine, self._patience = engine, patience
        self.record = retry_unavailable(lambda: record(engine, run), patience)
        self.pause = POLL
        self._sums = batches.BatchResult(at=self.record.started)
        self.done = set[int]()  # batches that have a result
        self._first = 0  # the first one that has none
        self._last_change = time.monotonic()

    def look(self) -> Progress:
        """Read new results, and set `pause` to the delay before the next read."""
        began = time.monotonic()
        progress = retry_unavailable(self._look, self._patience)
        self.pause = min(MAX_PAUSE, max(POLL, (WATCH_SHARE - 1) * (time.monotonic() - began)))
        return progress

    def _look(self) -> Progress:
        if self.record.state == "reading":
            self.record = record(self._engine, self.record.run)
        known = len(self.done)
        self._read()
        if len(self.done) > known or len(self.done) >= self.record.batches:
            self._last_change = time.monotonic()
        head, idle = self.record, time.monotonic() - self._last_change
        done, submitted = self.sums().documents, head.state != "reading"
        return Progress(head.run, head.documents, done, head.batches, len(self.done), submitted, idle)

    def wait(self, report: Callable[[Progress], None] = lambda _: None) -> Progress:
        """Wait until every document has an outcome; `report` is called after each read and may raise to stop."""
        while True:
            progress = self.look()
            report(progress)
            if progress.has_ended:
                return progress
            time.sleep(self.pause)

    def sums(self) -> batches.BatchResult:
        """Return the total of all batch results so far."""
        followed = batches.BatchResult.from_json(self.record.followed) if self.record.followed else batches.NO_RESULT
        return self._sums + followed

    def _read(self) -> None:
        empty = 0
        for start in count(self._first, BLOCK):
            is_noted = start < self.record.batches
            if not is_noted and self.record.state == "submitted":
                break
            block = range(start, start + BLOCK)
            missing = {
                batches.batch_key(self.record.run, number): number for number in block if number not in self.done
            }
            for key, entry in self._engine.get_records_by_key("runs", list(missing)).items():
                self.done.add(missing[key])
                self._sums += batches.read_account(entry)
            empty = empty + 1 if self.done.isdisjoint(block) else 0
            # A killed submitter may have sent more than it recorded; batches are processed roughly in order.
            if empty > (EMPTY_LOOKS if is_noted else 0):
                break
        while self._first in self.done:
            self._first += 1


def record(engine: Engine, run: str) -> RunRecord:
    """Read a run's record; a run whose command was killed counts as interrupted."""
    entry = _read_run(engine, run)
    if entry.state == "reading" and has_exited(entry.holder):
        entry = _read_run(engine, run)  # it may have recorded its end between the read and the check
        entry.state = "interrupted" if entry.state == "reading" else entry.state
    return entry


def _read_run(engine: Engine, run: str) -> RunRecord:
    entry = engine.get_record("runs", RUN_PREFIX + run)
    if entry is None:
        raise UsageError(f"there is no run {run!r}", "see the last one: ibidem status")
    return check_entry(entry, parse_run)


def may_be_harmful(engine: Engine, run: str) -> bool:
    """Return whether a document of a run may end its process, as one of the last runs of the same files was broken off.

    So may a run without files: a program must not end with one of its documents, and dead letters have ended a process.
    """
    paths = _read_run(engine, run).paths
    same = [each for each in runs(engine) if each.paths == paths and each.run != run]
    return not set(paths) - NO_FILES or any(each.state != "submitted" for each in same[-LAST_RUNS:])


def runs(engine: Engine) -> list[RunRecord]:
    """Return the records of all runs, the oldest first."""
    return [run for _, run in read_ledger(engine, "runs", parse_run, RUN_PREFIX)]


def summary(engine: Engine, run: str = "") -> dict[str, object]:
    """Return the state of a run, as `ibidem ingest --json` and `ibidem status --json` print it.

    `read` = `indexed` + `unchanged` + `stale` + `refused`, at any time; `pending` documents were handed to the queue
    and are not accounted for yet.
    """
    all_runs = runs(engine)
    if not (run or all_runs):
        raise UsageError("no run has been started yet", "start one with: ibidem ingest PATH")
    watch = RunMonitor(engine, run or all_runs[-1].run)
    progress, record, sums = watch.look(), watch.record, watch.sums()
    slices = engine.get_records("runs", f"{record.run}/refused/") if record.refused else ()
    unread = [refusal for _, refusals in read_entries(slices, batches.read_refusals) for refusal in refusals]
    state = {"submitted": "waiting"}.get(record.state, record.state)
    later = [other for other in all_runs if other.started > record.started]
    joined = later[0].joined if later else GroupCheckpoint.read(engine).joined
    again = [other.run for other in later if other.paths == record.paths and set(record.paths) - NO_FILES]
    return {
        "run": record.run,
        "kind": "backfill" if len(record.paths) == 1 and record.paths[0].startswith(INDEX_PATH) else "ingest",
        "read": sums.documents + len(unread),
        **{name: getattr(sums, name) for name in ("indexed", "replaced", "unchanged", "stale")},
        "refused": len(unread) + len(sums.refusals),
        "unsigned": sums.unsigned,
        # Documents that joined a group between the start of the run and the start of the next.
        "duplicates": {level: max(0, joined.get(level, 0) - record.joined.get(level, 0)) for level in LEVELS},
        "refusals": [*map(asdict, (*unread, *sums.refusals))],
        "took_s": round((sums.at if progress.has_ended else time.time()) - record.started, 3),
        "state": "done" if progress.has_ended and record.state != "interrupted" else state,
        "pending": max(0, record.documents - progress.done),
        **{name: getattr(record, name) for name in READER_COUNTS},
        "languages": dict(Counter(sums.languages).most_common()),
        "host": record.holder.partition("~")[0].rpartition("/")[0],  # of a name like that of `this_process`
        "again": again[-1] if again and record.state == "interrupted" else "",  # the last run of the same files since
    }


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

Source = Iterable[Document | Refusal]
Report = Callable[[Progress], None]


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
        if batch.number == 0 and is_small and not may_be_harmful(self._engine, run):
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
        self.record = RunRecord(new_run(), [str(path) for path in paths], time.time(), holder=this_process())
        self._engine, self._settings, self._sender = engine, settings, sender
        self._processes = sender if isinstance(sender, ToProcesses) else None  # without it, nothing goes on
        self._report: Report | None = None  # of a run that is waited for
        self._head = OwnRecord(engine, "runs", RUN_PREFIX + self.record.run)
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
            remedy = f"{REPEAT_REMEDY}; progress: ibidem status {run}"
            raise Interruption(f"run {run} was stopped{sent}", remedy) from error

    def send(self, source: Source) -> RunRecord:
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
                record = {"version": version} | item.as_record() | {WHERE: location}
                # A document built by hand may contain anything; it is checked when it is signed.
                document = batches.SerializedDocument(str(item.id), len(str(item.text)), orjson.dumps(record))
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
    def _monitor(self) -> RunMonitor:
        return RunMonitor(self._engine, self.record.run, self._settings.patience)

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
        for number in self._under_way.keys() & self._monitor.done:
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

    def _note(self, state: State) -> None:
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


def ingest_documents(  # noqa: PLR0913 - the options of one command, each by its name
    source: Source,
    settings: Settings,
    *,
    wait: bool = True,
    report: Report = lambda _: None,
    tally: Tally | None = None,
    paths: Sequence[str | Path] = (),
) -> str:
    """Ingest documents, which `tally` counts as they are read from `paths`; refusals among them are recorded."""
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
        return summary(engine, run)


def _document(value: object) -> Document | Refusal:
    """Refuse a value that is neither a document nor a refusal; fields are checked at signing."""
    if not isinstance(value, Document | Refusal):
        raise UsageError(f"{short_repr(value)} is not a document", "create one with Document(id, text) or read_record")
    return value
