"""Runs: their records, progress and summary, read from the ledger alone, so that any process can show them."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Literal

from ibidem_core.errors import retry_unavailable
from ibidem_core.records import parse_record
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint, check_entry, read_entries, read_ledger
from ibidem_ingest.errors import UsageError
from ibidem_workers.batches import NO_RESULT, BatchResult, batch_key, read_account, read_refusals
from ibidem_workers.executors import has_exited

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

    @property
    def key(self) -> str:
        return RUN_PREFIX + self.run


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
        self._sums = BatchResult(at=self.record.started)
        self._done = set[int]()  # batches that have a result
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
        known = len(self._done)
        self._read()
        if len(self._done) > known or len(self._done) >= self.record.batches:
            self._last_change = time.monotonic()
        head, idle = self.record, time.monotonic() - self._last_change
        done, submitted = self.sums().documents, head.state != "reading"
        return Progress(head.run, head.documents, done, head.batches, len(self._done), submitted, idle)

    def is_done(self, number: int) -> bool:
        """Return whether a batch has a result."""
        return number in self._done

    def wait(self, report: Callable[[Progress], None] = lambda _: None) -> Progress:
        """Wait until every document has an outcome; `report` is called after each read and may raise to stop."""
        while True:
            progress = self.look()
            report(progress)
            if progress.has_ended:
                return progress
            time.sleep(self.pause)

    def sums(self) -> BatchResult:
        """Return the total of all batch results so far."""
        followed = BatchResult.from_json(self.record.followed) if self.record.followed else NO_RESULT
        return self._sums + followed

    def _read(self) -> None:
        empty = 0
        for start in count(self._first, BLOCK):
            is_noted = start < self.record.batches
            if not is_noted and self.record.state == "submitted":
                break
            block = range(start, start + BLOCK)
            missing = {batch_key(self.record.run, number): number for number in block if number not in self._done}
            for key, entry in self._engine.get_records_by_key("runs", list(missing)).items():
                self._done.add(missing[key])
                self._sums += read_account(entry)
            empty = empty + 1 if self._done.isdisjoint(block) else 0
            # A killed submitter may have sent more than it recorded; batches are processed roughly in order.
            if empty > (EMPTY_LOOKS if is_noted else 0):
                break
        while self._first in self._done:
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
    unread = [refusal for _, refusals in read_entries(slices, read_refusals) for refusal in refusals]
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
        "refusals": [refusal.as_json() for refusal in (*unread, *sums.refusals)],
        "took_s": round((sums.at if progress.has_ended else time.time()) - record.started, 3),
        "state": "done" if progress.has_ended and record.state != "interrupted" else state,
        "pending": max(0, record.documents - progress.done),
        **{name: getattr(record, name) for name in READER_COUNTS},
        "languages": dict(Counter(sums.languages).most_common()),
        "host": record.holder.partition("~")[0].rpartition("/")[0],  # of a name like that of `this_process`
        "again": again[-1] if again and record.state == "interrupted" else "",  # the last run of the same files since
    }
