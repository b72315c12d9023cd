"""Backfill into a new index that then replaces the first; concurrent writes are carried over.

The first index is copied up to where its writes were when the copying began, then what was written meanwhile, and so
on, until little is left. Then the alias moves in one step, and what was written to the first index just before follows,
except over what came to the new one through the alias. What was deleted from the first is deleted from the new one.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import get_args

from ibidem_engines.connect import check_name, open_engine, open_reindex_source
from ibidem_engines.engine import Engine, Ledger
from ibidem_engines.errors import Unavailable
from ibidem_engines.reindex import Marks, ReindexSource
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.checkpoint import KEYS, Checkpoint, by_part, load_checkpoint, parsed
from ibidem_workers.backfill.run import Backfill, Report, check_fields, open_for_backfill, start_in_place
from ibidem_workers.groups.service import settle
from ibidem_workers.runs import new_run
from ibidem_workers.settings import Settings

EVERY = 1.0
"""Seconds between two looks."""

SETTLES = 10.0
"""Seconds for which documents are grouped between two looks."""

LONGEST_PAUSE = 30.0
"""Seconds between two looks while the engine does not answer."""


def follow(
    settings: Settings,
    has_ended: Callable[[float], bool],
    report: Report = lambda *_: None,
    notify: Callable[[str], None] = lambda _: None,
) -> str:
    """Sign what an index holds, and then what is added or changed.

    Args:
        settings: Which index.
        has_ended: Waits for so many seconds, and tells whether it was asked to end.
        report: Called with the progress of what the index holds at first.
        notify: Called with what people want to know: what was signed, whether the engine answers.

    Returns:
        The run's name.
    """
    with open_for_backfill(settings) as (engine, source):
        backfill = start_in_place(engine, source, settings, report)
        _Following(backfill, source, engine, has_ended, notify).go_on()
        backfill.checkpoint.state = "done"
        backfill.note("submitted")
        return backfill.checkpoint.run


class _Following:
    """Looks again and again, less often while the engine does not answer.

    Args:
        backfill: What is followed.
        source: The index.
        engine: The same, whose documents are grouped once they are signed.
        has_ended: As in `follow`.
        notify: As in `follow`.
    """

    def __init__(
        self,
        backfill: Backfill,
        source: ReindexSource,
        engine: Engine,
        has_ended: Callable[[float], bool],
        notify: Callable[[str], None],
    ) -> None:
        self._backfill, self._source, self._engine, self._ended, self._notify = (
            backfill,
            source,
            engine,
            has_ended,
            notify,
        )
        self._pause = EVERY

    def go_on(self) -> None:
        """Sign what is there, then what comes, until asked to end."""
        if self._tried(self._backfill.run):
            documents = self._backfill.checkpoint.documents
            self._notify(f"{documents:,} documents looked at; following what others write")
        while not self._ended(self._pause):
            before = self._backfill.checkpoint.documents
            if self._tried(self._look) and (signed := self._backfill.checkpoint.documents - before):
                self._notify(f"{time.strftime('%H:%M:%S')}  {signed:,} signed")

    def _look(self) -> None:
        upto = self._source.newest(parsed(self._backfill.checkpoint.upto))
        self._backfill.sign(upto, changes_only=True)
        settle(self._engine, SETTLES)

    def _tried(self, step: Callable[[], None]) -> bool:
        """Do a step; what an engine that does not answer leaves is taken up by the next."""
        try:
            step()
        except Unavailable as error:
            self._notify(f"{error}; waiting")
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            return False
        if self._pause > EVERY:
            self._notify("it answers again")
        self._pause = EVERY
        return True


AT_ONCE = 1_000
ON_THE_WAY = 0.5
"""Seconds in which a write arrives that went to the first index before its alias moved."""

LOOKS = 60
"""How often is looked for such writes at most: somebody may go on writing to the first index by its own name."""

LEDGERS: tuple[Ledger, ...] = get_args(Ledger)
"""Ledgers that go with an index that gets another name, without the checkpoints in its runs: they count its writes."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Request for a backfill into a new index.

    Args:
        into: Name of the new index.
        alias: The alias that it gets in the end; empty for the one that the settings name, where it is one.
    """

    into: str
    alias: str = ""


@dataclass(frozen=True, slots=True)
class ReplaceResult:
    """Result of a backfill into a new index.

    Args:
        run: The run's name; its accounts are next to the new index.
        source: The index that was copied.
        alias: The alias that the new one has now; empty for none.
        pruned: Documents that were deleted from the first index meanwhile.
    """

    run: str
    source: str
    alias: str
    pruned: int


def replace_index(replacement: Replacement, settings: Settings, report: Report = lambda *_: None) -> ReplaceResult:
    """Copy an index into a new one, signed again, and put it in the first one's place.

    Args:
        replacement: The new index.
        settings: The first index, or an alias of it.
        report: Called with the progress.

    Raises:
        UsageError: The new index is there and was made by nothing of ours; a wrong alias; a missing field.
        Interruption: Ctrl-C; the same command goes on.
    """
    check_name(replacement.into)
    engine = open_engine(settings.address, replacement.into)
    try:
        one = load_checkpoint(engine, replacement.into)
        if one is not None and one.state == "swapped":
            source = open_reindex_source(settings.address, one.source)
        else:
            source = open_reindex_source(settings.address, settings.index)
        try:
            source.check("copy")
            return _Replacing(engine, source, replacement, settings, report).through(one)
        finally:
            source.close()
    finally:
        engine.close()


class _Replacing:
    """The way of one index into another.

    Args:
        engine: The new index.
        source: The first one.
        asked: What is to be done.
        settings: The settings.
        report: Called with the progress.
    """

    def __init__(
        self, engine: Engine, source: ReindexSource, replacement: Replacement, settings: Settings, report: Report
    ) -> None:
        self._engine, self._source, self._replacement, self._settings, self._report = (
            engine,
            source,
            replacement,
            settings,
            report,
        )
        self._alias = replacement.alias or source.alias
        self._pruned = 0
        self._copy = source.copy_to(replacement.into)

    def through(self, one: Checkpoint | None) -> ReplaceResult:
        """Copy, catch up, take the place."""
        if one is not None and one.state == "swapped":
            self._alias = one.alias
        self._check()
        one = self._checkpoint(one)
        backfill = Backfill(self._engine, self._source, one, self._settings, self._report)
        if one.state != "swapped":
            self._fill(backfill)
            self._forget_deleted(backfill)
            self._carry()
            one.marks, one.alias = by_part(self._copy.newest()), self._alias
            one.state = "swapped" if self._alias else "done"
            backfill.note()
        self._copy.finish(self._alias)
        if self._alias:
            self._follow(backfill)
        one.state = "done"
        backfill.note("submitted")
        return ReplaceResult(one.run, one.source, self._alias, self._pruned)

    def _check(self) -> None:
        """Refuse what cannot be done before anything is."""
        check_fields(self._source)
        if self._replacement.into in {part.index for part in self._source.parts()}:
            reason = f"{self._settings.index!r} stands for {self._replacement.into!r} already"
            raise UsageError(
                reason if self._source.alias else f"{self._replacement.into!r} is the index to be copied",
                "name a new one with --into",
            )
        if self._alias:
            self._copy.check_alias(self._alias)

    def _checkpoint(self, one: Checkpoint | None) -> Checkpoint:
        tables = Tables(self._settings.tables)
        into, (source, *_) = self._replacement.into, [part.index for part in self._source.parts()]
        if self._copy.exists():
            if one is None or one.source != source:
                raise UsageError(f"index {into!r} is there already", "name a new one with --into")
            if not one.signs_alike(tables):
                raise UsageError(
                    f"index {into!r} was begun with another idf table", "delete it, or name a new one with --into"
                )
            return one
        deletions = self._source.deletions()
        self._copy.create()
        self._engine.create()
        now = dict(tables.current())
        return Checkpoint(new_run(), time.time(), source, into, tables=now, deletions=deletions)

    def _fill(self, backfill: Backfill) -> None:
        """Copy, then what was written meanwhile, until little is left."""
        backfill.checkpoint.state = "open"
        backfill.run()

    def _follow(self, backfill: Backfill) -> None:
        """Take over what was on its way to the first index when the alias moved, until nothing comes for a moment."""
        last_marks: Marks | None = None
        for _ in range(LOOKS):
            now = self._source.newest()
            if now == last_marks:
                return
            backfill.sign(now, late=parsed(backfill.checkpoint.marks))
            self._forget_deleted(backfill, swapped=True)
            last_marks = now
            time.sleep(ON_THE_WAY)

    def _forget_deleted(self, backfill: Backfill, *, swapped: bool = False) -> None:
        """Delete from the new index what was deleted from the first one, when anything was."""
        one = backfill.checkpoint
        deletions = self._source.deletions()
        if deletions != one.deletions:
            self._pruned += self._copy.prune(parsed(one.marks) if swapped else self._copy.newest())
            one.deletions = deletions

    def _carry(self) -> None:
        """Take what is kept next to the index along, where its name changes."""
        if self._alias == self._settings.index:
            return
        for ledger in LEDGERS:
            for some in _some(each for each in self._source.get_records(ledger) if not each[0].startswith(KEYS)):
                self._engine.put_records(ledger, some)


def _some(entries: Iterable[tuple[str, dict[str, object]]]) -> Iterator[dict[str, dict[str, object]]]:
    """Part records into portions."""
    entries = iter(entries)
    while some := dict(islice(entries, AT_ONCE)):
        yield some
