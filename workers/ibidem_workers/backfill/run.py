"""Run of a backfill: batch after batch, from the last checkpoint."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ibidem_engines.connect import open_engine, open_reindex_source
from ibidem_engines.engine import Engine
from ibidem_engines.errors import EngineError
from ibidem_engines.reindex import Marks, Name, ReindexSource, SeqNoRange, ShardRef
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import BackfillBatch, BatchOutcome, page_key
from ibidem_workers.backfill.checkpoint import (
    PAGE,
    Checkpoint,
    OwnWrites,
    by_part,
    in_turn,
    load_checkpoint,
    names,
    paged,
    parsed,
)
from ibidem_workers.backfill.pool import Signers, SigningJob
from ibidem_workers.batches import BatchResult
from ibidem_workers.brokers.lease import this_process
from ibidem_workers.groups.checkpoint import joined
from ibidem_workers.groups.service import settle_all
from ibidem_workers.ingest import Interruption
from ibidem_workers.pool import WorkerFailure
from ibidem_workers.retry import retry_unavailable
from ibidem_workers.runs import HEADS, RunRecord, State, new_run
from ibidem_workers.settings import Settings

Report = Callable[[int, int], None]
"""Called with the documents that are done, and how many there are."""

LITTLE = 1_000
"""Documents after which it is enough: others go on writing, and a pass for a few is soon followed by another."""

MOST_PASSES = 20
"""Passes after which it is enough in any case, since others write as quickly as is read."""

DEATHS = 2
"""How often a process may end with a page in hand; the first time others were in hand as well."""

MOST_DEATHS = 12
"""Processes that may end one after the other, and no page be done in between, before it is none of the documents."""

Pending = tuple[BackfillBatch, ShardRef, Callable[[], BatchOutcome]]
"""A page that was handed out, its place, and the future of its result."""


class Backfill:
    """Pages of one index, handed out in order and accounted for; what a killed one left is done first.

    Args:
        engine: The index that is written to; its ledger keeps the checkpoint and the accounts.
        source: The index that is read.
        checkpoint: How far it is.
        settings: The settings.
        report: Called with the progress.
    """

    def __init__(
        self,
        engine: Engine,
        source: ReindexSource,
        checkpoint: Checkpoint,
        settings: Settings,
        report: Report = lambda *_: None,
    ) -> None:
        self.checkpoint = checkpoint
        self._engine, self._source, self._settings, self._report = engine, source, settings, report
        self._own = OwnWrites()
        self._expected = 0
        self._waiting: deque[Pending] = deque()
        self._in_hand: set[int] = set()
        self._deaths = 0

    def run(self) -> None:
        """Sign what is there, or what an earlier one left, and what others write meanwhile until that is little."""
        # Also when an earlier one said how far to go: what it wrote has to be seen before it is counted.
        now = self._source.newest()
        self.sign(parsed(self.checkpoint.upto) or now)
        for _ in range(MOST_PASSES):
            if self.sign(self._source.newest(), changes_only=not self.checkpoint.into) < LITTLE:
                return

    def sign(self, upto: Marks, *, late: Marks | None = None, changes_only: bool = False) -> int:
        """Sign what was written up to these numbers, but for our own writes; returns how many documents that were.

        Args:
            upto: The numbers.
            late: When the copy has taken the first index's place: up to where it had been written then.
            changes_only: Whether documents that are signed already are not worth counting.
        """
        while True:
            try:
                return self._sign(upto, late=late, changes_only=changes_only)
            except WorkerFailure:
                self._deaths += 1
                if self._deaths > MOST_DEATHS:
                    raise
                self._bury()

    def _sign(self, upto: Marks, *, late: Marks | None, changes_only: bool) -> int:
        self.checkpoint.upto = by_part(upto)
        left = [self.checkpoint.stretch(part) for part in upto]
        gaps = {stretch: list(self._own.gaps(stretch)) for stretch in left if stretch.after < stretch.upto}
        again = self._unaccounted()
        documents = sum(self._source.count(gap) for some in gaps.values() for gap in some)
        self._expected = self.checkpoint.documents + documents + sum(len(page.names) + page.before for page, _ in again)
        with self._interruptible(), Signers(self._place(), documents) as signers:
            for page, part in again:
                self._hand_out(signers, page, part)
                if page.number in self._suspects:
                    self._settle()
            like = replace(_EMPTY, late=late, changes_only=changes_only)
            for part, some in in_turn([self._names(stretch, each) for stretch, each in gaps.items()]):
                self._hand_out_next(signers, part, some, like)
            while self._waiting:
                self._settle()
        self.note()
        return documents

    def note(self, state: State = "reading") -> None:
        """Keep how far it is."""
        one = self.checkpoint
        read = RunRecord(
            one.run,
            [f"index {one.source}"],
            one.started,
            state,
            one.documents,
            one.number,
            holder=this_process(),
            joined=one.joined,
        )
        self._engine.put_records("runs", {one.key: one.as_json(), HEADS + one.run: read.as_json()})

    def _place(self) -> SigningJob:
        return SigningJob(self._settings, self.checkpoint.source, self.checkpoint.into)

    def _names(self, stretch: SeqNoRange, gaps: Sequence[SeqNoRange]) -> Iterator[tuple[ShardRef, list[Name]]]:
        """Name the documents of a stretch, page by page, as far as others wrote them."""
        for some in paged(name for gap in gaps for name in names(self._source, gap)):
            yield stretch.part, some
        self.checkpoint.done[str(stretch.part)] = stretch.upto

    def _hand_out_next(self, signers: Signers, part: ShardRef, some: list[Name], like: BackfillBatch) -> None:
        """Note the page of a part that comes next, and hand it out."""
        one = self.checkpoint
        opened = one.hand_out(SeqNoRange(part, one.stretch(part).after, some[-1].order), len(some))
        self.note()
        self._hand_out(signers, replace(like, run=one.run, number=opened.number, names=some), part)

    def _bury(self) -> None:
        """Note which pages were in hand when a process ended; these are signed alone, then document by document.

        A document that ends its process twice is refused.
        """
        in_hand = [page for page in self.checkpoint.pages if page.number in self._in_hand]
        for page in in_hand:
            page.deaths += 1
        for page in [page for page in in_hand if page.deaths >= DEATHS]:
            left = self._source.names(page.stretch, PAGE)
            if page.documents == 1 and left:
                why = "it ended the process that signed it; look at it, or leave it out"
                account = BatchResult(refusals=[Refusal(f"index {left[0].index}", left[0].id, "", why)])
            else:
                written = 0 if self.checkpoint.into else page.documents - len(left)
                account = BatchResult(indexed=max(0, written))
                self.checkpoint.part_into_singles(page, [name.order for name in left])
            self._engine.put_records("runs", {page_key(self.checkpoint.run, page.number): account.as_json()})
            self.checkpoint.settle(page.number, account.documents)
        self.note()

    @property
    def _suspects(self) -> set[int]:
        """Numbers of the pages that were in hand when a process ended."""
        return {page.number for page in self.checkpoint.pages if page.deaths}

    def _unaccounted(self) -> list[tuple[BackfillBatch, ShardRef]]:
        """Take up pages that were handed out and not accounted for, because something ended."""
        missing = []
        for page in list(self.checkpoint.pages):
            key = page_key(self.checkpoint.run, page.number)
            entry = self._engine.get_record("runs", key)
            if entry is not None:
                self.checkpoint.settle(page.number, BatchResult.from_json(entry).documents)
            else:
                left = self._source.names(page.stretch, PAGE)
                written = 0 if self.checkpoint.into else max(0, page.documents - len(left))
                batch = BackfillBatch(self.checkpoint.run, page.number, left, written, resumed=True)
                missing.append((batch, page.stretch.part))
        return missing

    def _hand_out(self, signers: Signers, page: BackfillBatch, part: ShardRef) -> None:
        self._waiting.append((page, part, signers.sign(page)))
        while len(self._waiting) >= signers.at_once:
            self._settle()

    def _settle(self) -> None:
        """Wait for the oldest page, so that the checkpoint grows without gaps."""
        page, part, wait = self._waiting[0]
        written = wait()
        self._deaths = 0
        self._own.add(part, written.own)
        self.checkpoint.settle(page.number, written.account.documents)
        self._waiting.popleft()
        self._report(self.checkpoint.documents, self._expected)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Forget what was handed out when it comes to an end: it is taken up again as the checkpoint says."""
        try:
            yield
        except KeyboardInterrupt as error:
            self._waiting.clear()
            self.note("interrupted")
            raise Interruption(f"run {self.checkpoint.run} was stopped", "go on with the same command") from error
        except EngineError:
            self._in_hand = {page.number for page, _, _ in self._waiting}
            self._waiting.clear()
            raise


_EMPTY = BackfillBatch("", 0, ())


def in_place(settings: Settings, report: Report = lambda *_: None) -> str:
    """Sign what an index holds in its place.

    Args:
        settings: Which index.
        report: Called with the progress.

    Returns:
        The run's name, for `runs.summary`.

    Raises:
        UsageError: A field that the index does not have.
        Interruption: Ctrl-C; the same command goes on.
        Unavailable: The engine did not answer; the same command goes on.
    """
    with open_for_backfill(settings) as (engine, source):
        backfill = start_in_place(engine, source, settings, report)
        backfill.run()
        retry_unavailable(lambda: settle_all(engine), settings.patience)
        backfill.checkpoint.state = "done"
        backfill.note("submitted")
        return backfill.checkpoint.run


def start_in_place(engine: Engine, source: ReindexSource, settings: Settings, report: Report) -> Backfill:
    """Make an index ready to be signed in place, and take up what an earlier backfill left."""
    source.check("place")
    check_fields(source)
    source.prepare()
    tables = Tables(settings.tables)
    one = load_checkpoint(engine)
    parts = set(map(str, source.parts()))
    if one is None or one.state == "done" or not one.signs_alike(tables) or not one.upto.keys() <= parts:
        one = Checkpoint(new_run(), time.time(), source.index, tables=dict(tables.current()), joined=joined(engine))
    return Backfill(engine, source, one, settings, report)


def check_fields(source: ReindexSource) -> None:
    """Refuse names of fields that an index does not have.

    Raises:
        UsageError: Which.
    """
    if missing := source.missing_fields():
        raise UsageError(
            f"index {source.index!r} has no field {', '.join(map(repr, missing))}",
            "say what it calls the fields of a document in IBIDEM_FIELDS: title=…,text=…,date=…",
        )


@contextmanager
def open_for_backfill(settings: Settings) -> Iterator[tuple[Engine, ReindexSource]]:
    """Open an index for writing and for being gone through."""
    engine = open_engine(settings.address, settings.index)
    source = open_reindex_source(settings.address, settings.index)
    try:
        yield engine, source
    finally:
        engine.close()
        source.close()
