"""Run of a backfill: signs batch after batch, starting from the last checkpoint.

Guard of fields that a response may leave out: our writes must not change how many documents have them. Others may write
at the same time. So a count may differ by as many documents as there were writes that are not ours.

Follower of an index: signs documents shortly after others add or change them. An idle index costs it one request a look
(`LOOK_S`), which reads the number of the last write of each shard. Groups are settled in a thread, so that documents
written meanwhile do not wait for their signatures.
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Any, Self

from ibidem_core.errors import NoIndex, Permanent, Unavailable, retry_unavailable
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Beside, Engine, FieldCounts, ReindexSource, ReindexTarget, SourceDocument
from ibidem_engines.ledger import GroupCheckpoint, OwnRecord, read_key
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, ShardRef, all_writes, marks_as_record, parse_marks
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.signatures.sign import digest, sign_one
from ibidem_ingest.text.passages import SharedPassage
from ibidem_workers.backfill import batch
from ibidem_workers.batches import NO_RESULT, BatchResult, batch_key
from ibidem_workers.executors import Pool, this_process
from ibidem_workers.groups.follower import settle, settle_all
from ibidem_workers.ingest import INDEX_PATH, RUN_PREFIX, Interruption, RunRecord, State, new_run

REMEDY = "do not repeat the command; restore the values from their source, or from a snapshot"

# How often counts are compared before they are believed to differ: a write of others may be seen before its number.
MAX_LOOKS = 3

PAUSE = 0.5  # seconds between two looks


# Numbers of documents with a field, before and after a write, and how many may differ, since others wrote meanwhile.
Comparison = tuple[FieldCounts, FieldCounts, int]


def check_counts(look: Callable[[], Comparison], location: str) -> None:
    """Compare counts; if they differ, count again a few times."""
    for turn in range(MAX_LOOKS):
        time.sleep(PAUSE if turn else 0)
        before, after, tolerance = look()
        counts = [(name, count, after.by_field.get(name, 0)) for name, count in before.by_field.items()]
        differences = [each for each in counts if abs(each[1] - each[2]) > tolerance]
        if not differences:
            return
    name, count, now = differences[0]
    raise Permanent(f"{location}: {count:,} documents had field {name!r}, and {now:,} have it now", REMEDY)


class FieldGuard:
    """Guards the documents of an index that are written in place."""

    def __init__(self, source: ReindexSource) -> None:
        self._source = source
        self._counts = source.count_fields()
        # Whether none of our writes is verified yet, so that no further page may be written.
        self.is_pending = bool(self._counts.by_field)
        if self.is_pending:
            self._begin()

    def note(self, writes: int) -> None:
        """Count our own writes; while none is verified, compare the counts."""
        if self._counts.by_field:
            self._writes += writes
        if self.is_pending:
            self.check()

    def check(self) -> None:
        """Compare the counts with those of the last check."""
        if self._counts.by_field and self._writes:
            check_counts(self._look, f"index {self._source.index!r}")
            self.is_pending = False
            self._begin()

    def _look(self) -> Comparison:
        counts = self._source.count_fields()
        writes = sum(self._source.newest().values()) - sum(self._marks.values())
        return self._counts, counts, max(0, writes - self._writes)

    def _begin(self) -> None:
        """Start counting; the sequence numbers are read first, so that no visible write is missed."""
        self._writes, self._marks = 0, self._source.newest()
        self._counts = self._source.count_fields()


def check_copy(source: ReindexSource, copy: ReindexTarget, end: Marks) -> None:
    """Compare the fields of a copy with those of the index it replaces."""

    def look() -> Comparison:
        """Count the fields of both indexes; documents refused by the copy are excluded."""
        counts = source.count_fields()
        copied = copy.count_fields() if counts.by_field else FieldCounts()
        later_writes = sum(source.newest().values()) - sum(end.values())
        return counts, copied, max(0, later_writes) + max(0, counts.documents - copied.documents)

    check_counts(look, f"the copy {copy.index!r}, which has not replaced {source.index!r}")


Report = Callable[[int, int], None]  # called with the documents that are done, and how many there are

LAST_PASS = 1_000  # a pass of fewer documents is the last: while others write, another pass would follow for ever

MAX_PASSES = 20  # passes at most, since others may write as quickly as this reads

MIN_POOL_DOCUMENTS = 1_500  # number of documents below which starting processes does not pay

Signers = Pool[batch.BackfillBatch, batch.BatchOutcome]

# A page that was handed out, its place, and what waits for its result.
Pending = tuple[batch.BackfillBatch, ShardRef, Callable[[], batch.BatchOutcome]]


class Backfill:
    """Hands out the pages of one index in order, and records their results; interrupted pages come first."""

    def __init__(
        self,
        engine: Engine,
        source: ReindexSource,
        checkpoint: batch.Checkpoint,
        settings: Settings,
        report: Report = lambda *_: None,
    ) -> None:
        self.checkpoint = checkpoint
        self.counts = Counter(signed=0, refused=0)
        self.stop: Callable[[], bool] = lambda: False
        self._guard = None if checkpoint.into else FieldGuard(source)
        self._engine, self._source, self._settings, self._report = engine, source, settings, report
        self._head = OwnRecord(engine, "runs", RUN_PREFIX + checkpoint.run)
        self._progress = OwnRecord(engine, "runs", batch.KEYS + checkpoint.into)
        self._own = batch.OwnWrites()
        self._total = 0

    def run(self) -> None:
        """Sign all documents from the last checkpoint on, then documents written meanwhile, until few are left."""
        # Also if the checkpoint says how far to go: writes have to be visible before they are counted.
        now = self._source.newest()
        self.sign(parse_marks(self.checkpoint.upto) or now, changes_only=bool(self.checkpoint.followed))
        for _ in range(MAX_PASSES):
            if self.stop() or self.sign(self._source.newest(), changes_only=not self.checkpoint.into) < LAST_PASS:
                return

    def sign(self, end: Marks, *, switch_marks: Marks | None = None, changes_only: bool = False) -> int:
        """Sign the documents that others wrote up to some sequence numbers; returns how many."""
        self.checkpoint.upto = marks_as_record(end)
        seq_ranges = [self.checkpoint.seq_range(part) for part in end]
        gaps = {
            seq_range: list(self._own.gaps(seq_range)) for seq_range in seq_ranges if seq_range.after < seq_range.end
        }
        pages_left = self._resume_pages(switch_marks)
        documents = sum(map(self._source.count, chain.from_iterable(gaps.values())))
        left = sum(len(page.names) + page.before for page, _ in pages_left)
        self._total = self.checkpoint.documents + documents + left
        into, settings, guard = self.checkpoint.into, self._settings, self._guard
        processes = settings.workers if documents >= MIN_POOL_DOCUMENTS else 1
        beside: Beside = "index" if self._source.beside else ""
        job = partial(batch.open_signing, settings, self.checkpoint.source, into, beside)
        copy = self._source.copy_to(into) if into else None
        tables = Tables(settings.tables, settings.index)  # read again, since they may have changed
        context = batch.BackfillContext(self._engine, tables, settings, source=self._source, copy=copy)
        like = batch.BackfillBatch(self.checkpoint.run, 0, (), switch_marks=switch_marks, changes_only=changes_only)
        like = replace(like, folds=changes_only and processes == 1)
        at_once, waiting = 1 if processes == 1 else 2 * processes, deque[Pending]()
        try:
            with Signers(job, processes) if processes > 1 else nullcontext() as pool:
                for page, part in chain(pages_left, self._new_pages(gaps, like)):
                    wait = pool.submit(page).result if pool else partial(batch.sign_batch, context, page)
                    waiting.append((page, part, wait))
                    # Until the first page is verified to lose no field, no further one is written.
                    while len(waiting) >= at_once or (waiting and guard and guard.is_pending):
                        self._settle(*waiting.popleft())
                while waiting:
                    self._settle(*waiting.popleft())
        except KeyboardInterrupt as error:
            self.note("interrupted")  # with the pages in progress
            raise Interruption(f"run {self.checkpoint.run} was stopped", "continue with the same command") from error
        self.note()
        if self._guard is not None:
            self._guard.check()
        return documents

    def _new_pages(
        self, gaps: Mapping[SeqNoRange, Sequence[SeqNoRange]], like: batch.BackfillBatch
    ) -> Iterator[tuple[batch.BackfillBatch, ShardRef]]:
        """Hand out pages that others wrote, of each part in turn; each is noted before it is signed."""
        checkpoint = self.checkpoint
        pages = (self._names(seq_range, each) for seq_range, each in gaps.items())
        for part, found in filter(None, chain.from_iterable(zip_longest(*pages))):
            if self.stop():
                return
            seq_range = SeqNoRange(part, checkpoint.seq_range(part).after, found[-1].order)
            page = checkpoint.hand_out(seq_range, len(found))
            self.note()
            yield replace(like, number=page.number, names=found), part

    def note(self, state: State = "reading") -> None:
        """Save the progress."""
        progress, holder = self.checkpoint, this_process()
        paths, joined, followed = [INDEX_PATH + progress.source], progress.joined, progress.followed
        read = RunRecord(progress.run, paths, progress.started, state, progress.documents, progress.number)
        self._head.write(asdict(replace(read, holder=holder, joined=joined, followed=followed)))
        self._progress.write(asdict(progress))

    def _names(self, seq_range: SeqNoRange, gaps: Sequence[SeqNoRange]) -> Iterator[tuple[ShardRef, list[Name]]]:
        """Yield the names of the documents that others wrote in a range, page by page."""
        for page in batch.paginate(name for gap in gaps for name in batch.names(self._source, gap)):
            yield seq_range.part, page
        self.checkpoint.done[str(seq_range.part)] = seq_range.end

    def _resume_pages(self, switch_marks: Marks | None) -> list[tuple[batch.BackfillBatch, ShardRef]]:
        """Resume the pages that an interrupted backfill started and did not finish."""
        missing = []
        for page in list(self.checkpoint.pages):
            key = batch_key(self.checkpoint.run, page.number)
            account = read_key(self._engine, "runs", key, BatchResult.from_json)
            if account is not None:
                self.checkpoint.settle(page.number, account.documents)
            else:
                names_left = self._source.names(page.seq_range, batch.PAGE)
                write_count = 0 if self.checkpoint.into else max(0, page.documents - len(names_left))
                left = batch.BackfillBatch(self.checkpoint.run, page.number, names_left, write_count, is_resumed=True)
                missing.append((replace(left, switch_marks=switch_marks), page.seq_range.part))
        return missing

    def _settle(self, page: batch.BackfillBatch, part: ShardRef, wait: Callable[[], batch.BatchOutcome]) -> None:
        """Wait for the oldest page, so that the checkpoint grows without gaps."""
        account, own = wait()
        self._own.add(part, own)
        self.counts.update(signed=account.indexed, refused=len(account.refusals))
        if page.needs_record(account):
            self.checkpoint.settle(page.number, account.documents)
        else:
            self.checkpoint.fold(page.number, account)
        if self._guard is not None:
            self._guard.note(len(own))
        self._report(self.checkpoint.documents, self._total)


def backfill_in_place(settings: Settings, report: Report = lambda *_: None, beside: Beside = "") -> str:
    """Sign the documents of an index in place, or into an index beside it."""
    with open_for_backfill(settings, beside) as (engine, source):
        backfill = start_in_place(engine, source, settings, report)
        engine.group_set()  # groups that cannot be settled are refused before anything is written
        backfill.run()
        source.prune()
        retry_unavailable(lambda: settle_all(engine), settings.patience)
        backfill.checkpoint.state = "done"
        backfill.note("submitted")
        return backfill.checkpoint.run


def start_in_place(
    engine: Engine, source: ReindexSource, settings: Settings, report: Report, *, follows: bool = False
) -> Backfill:
    """Prepare an index for signing in place, and continue an earlier backfill."""
    source.check("place")
    check_fields(source)
    source.prepare()
    tables, uuids = Tables(settings.tables, settings.index), source.uuids()
    # The settings that determine the signatures, and where these are.
    signed_with = [settings.fields, ",".join(settings.distinct), str(settings.max_text), *filter(None, [source.beside])]
    if not follows and not settings.broker:  # whose workers may have another folder of tables
        look_through(source, tables, settings.index)
    checkpoint = batch.load_checkpoint(engine)
    states = ("open", "followed") if follows else ("open",)
    if (
        checkpoint is None
        or checkpoint.state not in states
        or not checkpoint.signs_alike(tables)
        or checkpoint.signed_with != signed_with
    ):
        checkpoint = batch.Checkpoint(new_run(), time.time(), source.index, uuids=dict(uuids), signed_with=signed_with)
        checkpoint.tables, checkpoint.joined = dict(tables.current()), GroupCheckpoint.read(engine).joined
    checkpoint.state = "open"
    checkpoint.keep_indexes(uuids)
    return Backfill(engine, source, checkpoint, settings, report)


def look_through(source: ReindexSource, tables: Tables, *keep: str) -> Sequence[SharedPassage]:
    """Look for passages that the first documents of an index share, leave them out, and keep that for some indexes."""
    originals = chain.from_iterable(batch.read_ranges(source, all_writes(source.newest())))
    return tables.look_through((original.document for original in originals), *keep)


def check_fields(source: ReindexSource) -> None:
    """Refuse field names that an index does not have."""
    if missing := source.missing_fields():
        raise UsageError(
            f"index {source.index!r} has no field {', '.join(map(repr, missing))}",
            "map the fields of a document in IBIDEM_FIELDS: title=…,text=…,date=…",
        )


@contextmanager
def open_for_backfill(settings: Settings, beside: Beside = "") -> Iterator[tuple[Engine, ReindexSource]]:
    """Open an index for writing, and for reading all its documents."""
    open_index = partial(open_engine, settings.address, settings.index)
    with closing(open_index()) as engine, closing(open_index().reindex_source(beside)) as source:
        yield engine, source


MAX_LISTED = 10_000  # changed documents that are listed; more are counted

COUNTS = ("read", "unchanged", "changed", "unsigned", "outdated", "due", "refused")  # of documents, in a check


def check(settings: Settings, report: Report = lambda *_: None) -> dict[str, Any]:
    """Compare every document with its signatures; returns what `ibidem backfill --check --json` prints."""
    counts, tables = dict.fromkeys(COUNTS, 0), Tables(settings.tables, settings.index)
    changed, refusals = list[dict[str, str]](), list[dict[str, str]]()
    with open_for_backfill(settings) as (_, source):
        source.check("place")
        check_fields(source)
        end = source.newest()
        documents = sum(map(source.count, all_writes(end)))
        for portion in batch.read_ranges(source, all_writes(end)):
            for original in portion:
                fault = batch.refusal(original, source.text_field, settings.max_text)
                found = {"refused"} if fault else set(compare(original, tables, settings.distinct))
                for name in {"read", *found}:
                    counts[name] += 1
                if fault and len(refusals) < MAX_LISTED:
                    refusals.append(asdict(fault))
                if "changed" in found and len(changed) < MAX_LISTED:
                    changed.append({"index": original.name.index, "id": original.name.id})
            report(counts["read"], documents)
    return {**counts, "documents": changed, "refusals": refusals}


def compare(original: SourceDocument, tables: Tables, distinct: tuple[str, ...]) -> Iterator[str]:
    """Compare a document with its signatures; yields the names that it counts under."""
    if not batch.is_current(original, tables):
        yield "due"  # the next backfill signs it, even if only other fields differ, such as a text with other capitals
    if is_changed(original, tables, distinct):
        yield "changed"
    elif original.packed and (original.schema != SCHEMA or batch.has_words(original)):
        yield "unchanged"
        table = tables.of(original.document.language)
        if (original.schema, original.idf) != (SCHEMA, table.name if table else ""):
            yield "outdated"
    else:
        yield "unsigned"


def is_changed(original: SourceDocument, tables: Tables, distinct: tuple[str, ...]) -> bool:
    """Return whether a signed document would get different signatures now; with another schema it is only outdated."""
    packed = unpack(original.packed) if original.packed and original.schema == SCHEMA else None
    if packed is None or original.digest == digest(original.document, original.idf):
        return False
    table = tables.named(original.idf) if original.idf else None
    signatures = sign_one(original.document, table)
    if original.idf and table is None:
        return signatures.content != content_key(packed)
    return pack(original.document, signatures, distinct) != original.packed


_log = logging.getLogger("ibidem_workers.backfill.follow")  # as those who filter logs know it

LOOK_S = 0.25  # seconds between two looks for new writes

# Seconds between two looks for manual decisions, and for other indexes behind the name, while nothing is written.
CHECK_S = 5.0

ABSENT_S = 0.5  # seconds between two looks for an index that is not there

PRUNE_S = 600.0  # seconds between two looks for documents that are gone, where their signatures are beside them

SETTLE_S = 10.0  # seconds after which settling looks whether the follower was asked to end

REPORT_S = 1.0  # seconds between two messages about signed documents

MAX_PAUSE_S = 30.0  # seconds between two looks while the engine does not answer, at most

Wait = Callable[[float], bool]  # waits for some seconds; returns whether the follower was asked to end

# Called with messages for people: how many documents were signed, whether the engine answers.
Notify = Callable[[str], None]


def follow(
    settings: Settings,
    has_ended: Wait,
    report: Report = lambda *_: None,
    notify: Notify = lambda _: None,
    beside: Beside = "",
) -> str:
    """Sign the documents of an index, and then added or changed documents; return the run, or "" if there was none.

    A follower that was ended goes on behind the last write that it signed. It waits for an index that is not there.
    """
    run = told = ""
    while True:
        try:
            with open_for_backfill(settings, beside) as (engine, source):
                backfill = start_in_place(engine, source, settings, report, follows=True)
                run = backfill.checkpoint.run
                backfill.stop = lambda: has_ended(0)
                with _Settler(settings) as settler:
                    is_asked = _Following(backfill, source, settler, has_ended, notify).go_on()
                backfill.checkpoint.state = "followed"
                backfill.note("submitted")
        except (NoIndex, Unavailable) as error:
            if error.what != told:
                notify(f"{error.what}; waiting")
            told = error.what
            if has_ended(ABSENT_S):
                return run
            continue
        if is_asked:
            return run
        notify(f"{settings.index!r} now points to other indexes; following these")


class _Settler(threading.Thread):
    """Settles the groups of newly signed documents, and checks for manual decisions in between."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(name="settler", daemon=True)
        self._settings = settings
        self._has_work, self._has_ended = threading.Event(), threading.Event()
        self._error: Exception | None = None
        self._refusal = ""

    def run(self) -> None:
        """Settle until asked to end."""
        with closing(open_engine(self._settings.address, self._settings.index)) as engine:
            while not self._has_ended.is_set():
                has_new = self._has_work.wait(CHECK_S)
                self._has_work.clear()
                self._settle(engine, has_new=has_new)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Finish the portion in progress, and end."""
        self._has_ended.set()
        self._has_work.set()
        self.join()

    def wake(self) -> None:
        """Settle newly signed documents."""
        if self._error is not None:
            raise self._error
        self._has_work.set()

    def _settle(self, engine: Engine, *, has_new: bool) -> None:
        began = time.monotonic()
        try:
            settle(engine, SETTLE_S, has_new=has_new)
            if time.monotonic() - began >= SETTLE_S:
                self._has_work.set()  # there may be more
        except Unavailable:
            self._has_ended.wait(CHECK_S)  # the follower uses the same engine and reports it
        except UsageError as error:
            if str(error) != self._refusal:  # documents are signed nevertheless
                _log.warning("groups are not settled: %s", error)
            self._refusal = str(error)
        except Exception as error:  # noqa: BLE001 - it is raised where the follower looks next
            self._error = error
            self._has_ended.set()


class _Following:
    """Polls the index, less often while the engine does not respond."""

    def __init__(
        self, backfill: Backfill, source: ReindexSource, settler: _Settler, has_ended: Wait, notify: Notify
    ) -> None:
        self._backfill, self._source, self._settler = backfill, source, settler
        self._has_ended, self._notify = has_ended, notify
        self._pause = LOOK_S
        self._next_check = self._next_report = self._next_prune = 0.0
        self._reported = Counter[str]()
        self._is_changed = False

    def go_on(self) -> bool:
        """Sign all documents, then new ones; False if the name covers other indexes, True if asked to end."""
        if self._try(self._backfill.run) and not self._backfill.stop():
            checkpoint = self._backfill.checkpoint
            checkpoint.followed = checkpoint.followed or NO_RESULT.as_json()  # from now on only changes count
            self._settler.wake()
            self._reported = self._backfill.counts.copy()
            self._notify(f"{checkpoint.documents:,} documents checked; following changes by others")
        while not self._is_changed and not self._has_ended(self._pause):
            self._try(self._look)
            self._report()
        return not self._is_changed

    def _look(self) -> None:
        """Sign the documents written since the last poll."""
        if time.monotonic() >= self._next_prune:
            self._next_prune = time.monotonic() + PRUNE_S
            if self._source.prune():
                self._settler.wake()
        marks = parse_marks(self._backfill.checkpoint.upto)
        try:
            end = self._source.newest(marks)
        except Unavailable:
            if not self._has_others():  # an index that was created again may have fewer shards
                raise
            return
        if any(end[part] < number for part, number in marks.items()) or time.monotonic() >= self._next_check:
            self._next_check = time.monotonic() + CHECK_S
            self._has_others()
        if self._is_changed or end == marks:
            return
        self._backfill.sign(end, changes_only=True)
        self._settler.wake()

    def _has_others(self) -> bool:
        """Record whether the name now covers other indexes than the followed ones."""
        self._is_changed = self._source.uuids() != self._backfill.checkpoint.uuids
        return self._is_changed

    def _report(self) -> None:
        """Report regularly how many documents were signed and refused."""
        phrases = [f"{count:,} {fate}" for fate, count in (self._backfill.counts - self._reported).items()]
        if phrases and time.monotonic() >= self._next_report:
            self._notify(f"{time.strftime('%H:%M:%S')}  {', '.join(phrases)}")
            self._reported, self._next_report = self._backfill.counts.copy(), time.monotonic() + REPORT_S

    def _try(self, step: Callable[[], None]) -> bool:
        """Run a step; returns False if the engine does not respond, so that the step is repeated."""
        try:
            step()
        except Unavailable as error:
            self._notify(f"{error}; waiting")
            self._pause = min(max(1.0, 2 * self._pause), MAX_PAUSE_S)
            return False
        if self._pause > LOOK_S:
            self._notify("the service answers again")
        self._pause = LOOK_S
        return True
