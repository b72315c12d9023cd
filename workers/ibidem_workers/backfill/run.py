"""Run of a backfill: signs batch after batch, starting from the last checkpoint."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ibidem_core.errors import EngineError, retry_unavailable
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine, open_reindex_source
from ibidem_engines.engine import Engine, ReindexSource
from ibidem_engines.ledger import OwnRecord, count_joined, read_key
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, ShardRef, marks_as_record, parse_marks
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import BackfillBatch, BackfillContext, BatchOutcome, page_key
from ibidem_workers.backfill.checkpoint import PAGE, Checkpoint, OwnWrites, interleave, load_checkpoint, names, paginate
from ibidem_workers.backfill.field_guard import FieldGuard
from ibidem_workers.backfill.pool import Signers, SigningJob
from ibidem_workers.batches import BatchResult
from ibidem_workers.groups.service import settle_all
from ibidem_workers.ingest import Interruption
from ibidem_workers.processes import this_process
from ibidem_workers.runs import HEADS, INDEX_PATH, RunRecord, State, new_run

Report = Callable[[int, int], None]  # called with the documents that are done, and how many there are

LITTLE = 1_000  # a pass of fewer documents is the last: while others write, another pass would follow for ever

MAX_PASSES = 20  # passes at most, since others may write as quickly as this reads

# A page that was handed out, its place, and the future of its result.
Pending = tuple[BackfillBatch, ShardRef, Callable[[], BatchOutcome]]


class Backfill:
    """Hands out the pages of one index in order, and records their results; interrupted pages come first."""

    def __init__(
        self,
        engine: Engine,
        source: ReindexSource,
        checkpoint: Checkpoint,
        settings: Settings,
        report: Report = lambda *_: None,
    ) -> None:
        self.checkpoint = checkpoint
        self.signed = self.refused = 0
        self.stop: Callable[[], bool] = lambda: False
        self._guard = None if checkpoint.into else FieldGuard(source)
        self._engine, self._source, self._settings, self._report = engine, source, settings, report
        self._head = OwnRecord(engine, "runs", HEADS + checkpoint.run)
        self._progress = OwnRecord(engine, "runs", checkpoint.key)
        self._own = OwnWrites()
        self._total = 0
        self._waiting: deque[Pending] = deque()

    def run(self) -> None:
        """Sign all documents from the last checkpoint on, then documents written meanwhile, until few are left."""
        # Also if the checkpoint says how far to go: writes have to be visible before they are counted.
        now = self._source.newest()
        self.sign(parse_marks(self.checkpoint.upto) or now, changes_only=bool(self.checkpoint.followed))
        for _ in range(MAX_PASSES):
            if self.stop() or self.sign(self._source.newest(), changes_only=not self.checkpoint.into) < LITTLE:
                return

    def sign(self, end: Marks, *, switch_marks: Marks | None = None, changes_only: bool = False) -> int:
        """Sign the documents that others wrote up to some sequence numbers; returns how many."""
        self.checkpoint.upto = marks_as_record(end)
        seq_ranges = [self.checkpoint.seq_range(part) for part in end]
        gaps = {
            seq_range: list(self._own.gaps(seq_range)) for seq_range in seq_ranges if seq_range.after < seq_range.end
        }
        pages_left = self._resume_pages(switch_marks)
        documents = sum(self._source.count(gap) for page_names in gaps.values() for gap in page_names)
        self._total = (
            self.checkpoint.documents + documents + sum(len(page.names) + page.before for page, _ in pages_left)
        )
        with self._interruptible(), Signers(self._job(), self._context(), documents) as signers:
            for page, part in pages_left:
                self._hand_out(signers, page, part)
            folds = changes_only and signers.at_once == 1
            like = replace(_EMPTY, switch_marks=switch_marks, changes_only=changes_only, folds=folds)
            for part, page_names in interleave([self._names(seq_range, each) for seq_range, each in gaps.items()]):
                if self.stop():
                    break
                self._hand_out_next(signers, part, page_names, like)
            while self._waiting:
                self._settle()
        self.note()
        if self._guard is not None:
            self._guard.check()
        return documents

    def note(self, state: State = "reading") -> None:
        """Save the progress."""
        checkpoint = self.checkpoint
        read = RunRecord(
            checkpoint.run,
            [INDEX_PATH + checkpoint.source],
            checkpoint.started,
            state,
            checkpoint.documents,
            checkpoint.number,
            holder=this_process(),
            joined=checkpoint.joined,
            followed=checkpoint.followed,
        )
        self._head.write(read.as_json())
        self._progress.write(checkpoint.as_json())

    def _job(self) -> SigningJob:
        return SigningJob(self._settings, self.checkpoint.source, self.checkpoint.into)

    def _context(self) -> BackfillContext:
        """Return the signing context of this process; idf tables are read again, since they may have changed."""
        into = self.checkpoint.into
        copy = self._source.copy_to(into) if into else None
        return BackfillContext(self._engine, self._source, copy, Tables(self._settings.tables), self._settings)

    def _names(self, seq_range: SeqNoRange, gaps: Sequence[SeqNoRange]) -> Iterator[tuple[ShardRef, list[Name]]]:
        """Yield the names of the documents that others wrote in a range, page by page."""
        for page in paginate(name for gap in gaps for name in names(self._source, gap)):
            yield seq_range.part, page
        self.checkpoint.done[str(seq_range.part)] = seq_range.end

    def _hand_out_next(
        self, signers: Signers, part: ShardRef, page_names: list[Name], previous_batch: BackfillBatch
    ) -> None:
        """Record the next page of a part, and hand it out."""
        checkpoint = self.checkpoint
        page = checkpoint.hand_out(
            SeqNoRange(part, checkpoint.seq_range(part).after, page_names[-1].order), len(page_names)
        )
        self.note()
        self._hand_out(signers, replace(previous_batch, run=checkpoint.run, number=page.number, names=page_names), part)

    def _resume_pages(self, switch_marks: Marks | None) -> list[tuple[BackfillBatch, ShardRef]]:
        """Resume the pages that an interrupted backfill started and did not finish."""
        missing = []
        for page in list(self.checkpoint.pages):
            key = page_key(self.checkpoint.run, page.number)
            account = read_key(self._engine, "runs", key, BatchResult.from_json)
            if account is not None:
                self.checkpoint.settle(page.number, account.documents)
            else:
                names_left = self._source.names(page.seq_range, PAGE)
                write_count = 0 if self.checkpoint.into else max(0, page.documents - len(names_left))
                batch = BackfillBatch(
                    self.checkpoint.run,
                    page.number,
                    names_left,
                    write_count,
                    is_resumed=True,
                    switch_marks=switch_marks,
                )
                missing.append((batch, page.seq_range.part))
        return missing

    def _hand_out(self, signers: Signers, page: BackfillBatch, part: ShardRef) -> None:
        self._waiting.append((page, part, signers.sign(page)))
        while len(self._waiting) >= signers.at_once or (self._waiting and self._is_unverified):
            self._settle()

    @property
    def _is_unverified(self) -> bool:
        """Whether the first page has not yet been verified to lose no field."""
        return self._guard is not None and self._guard.is_pending

    def _settle(self) -> None:
        """Wait for the oldest page, so that the checkpoint grows without gaps."""
        page, part, wait = self._waiting[0]
        outcome = wait()
        self._own.add(part, outcome.own)
        self.signed += outcome.account.indexed
        self.refused += len(outcome.account.refusals)
        if page.needs_record(outcome.account):
            self.checkpoint.settle(page.number, outcome.account.documents)
        else:
            self.checkpoint.fold(page.number, outcome.account)
        self._waiting.popleft()
        if self._guard is not None:
            self._guard.note(len(outcome.own))
            if self._guard.is_pending:
                self._guard.check()
        self._report(self.checkpoint.documents, self._total)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Discard the pages in progress if the block ends early; the checkpoint contains them."""
        try:
            yield
        except KeyboardInterrupt as error:
            self._waiting.clear()
            self.note("interrupted")
            raise Interruption(f"run {self.checkpoint.run} was stopped", "continue with the same command") from error
        except EngineError:
            self._waiting.clear()
            raise


_EMPTY = BackfillBatch("", 0, ())


def backfill_in_place(settings: Settings, report: Report = lambda *_: None) -> str:
    """Sign the documents of an index in place."""
    with open_for_backfill(settings) as (engine, source):
        backfill = start_in_place(engine, source, settings, report)
        engine.group_set()  # groups that cannot be settled are refused before anything is written
        backfill.run()
        retry_unavailable(lambda: settle_all(engine), settings.patience)
        backfill.checkpoint.state = "done"
        backfill.note("submitted")
        return backfill.checkpoint.run


def start_in_place(
    engine: Engine,
    source: ReindexSource,
    settings: Settings,
    report: Report,
    *,
    follows: bool = False,
) -> Backfill:
    """Prepare an index for signing in place, and continue an earlier backfill."""
    source.check("place")
    check_fields(source)
    source.prepare()
    tables, uuids = Tables(settings.tables), source.uuids()
    checkpoint = load_checkpoint(engine)
    states = ("open", "followed") if follows else ("open",)
    if (
        checkpoint is None
        or checkpoint.state not in states
        or not checkpoint.signs_alike(tables)
        or checkpoint.signed_with != signed_with(settings)
    ):
        checkpoint = Checkpoint(
            new_run(),
            time.time(),
            source.index,
            tables=dict(tables.current()),
            joined=count_joined(engine),
            uuids=dict(uuids),
            signed_with=signed_with(settings),
        )
    checkpoint.state = "open"
    checkpoint.keep_indexes(uuids)
    return Backfill(engine, source, checkpoint, settings, report)


def signed_with(settings: Settings) -> list[str]:
    """Return the settings that determine the signatures, as a checkpoint stores them."""
    return [settings.fields, ",".join(settings.distinct), str(settings.max_text)]


def check_fields(source: ReindexSource) -> None:
    """Refuse field names that an index does not have."""
    if missing := source.missing_fields():
        raise UsageError(
            f"index {source.index!r} has no field {', '.join(map(repr, missing))}",
            "map the fields of a document in IBIDEM_FIELDS: title=…,text=…,date=…",
        )


@contextmanager
def open_for_backfill(settings: Settings) -> Iterator[tuple[Engine, ReindexSource]]:
    """Open an index for writing, and for reading all its documents."""
    engine = open_engine(settings.address, settings.index)
    source = open_reindex_source(settings.address, settings.index)
    try:
        yield engine, source
    finally:
        engine.close()
        source.close()
