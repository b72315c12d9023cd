"""Follower of an index: signs documents that others add or change, a moment after they were written.

An idle index costs it one request a look (`LOOK_S`), which reads the number of the last write of each shard.
"""

import time
from collections.abc import Callable

from ibidem_core.errors import NoIndex, Unavailable
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine
from ibidem_engines.reindex import ReindexSource
from ibidem_workers.backfill.checkpoint import parse_marks
from ibidem_workers.backfill.run import Backfill, Report, open_for_backfill, start_in_place
from ibidem_workers.groups.service import settle

LOOK_S = 0.25
"""Seconds between two looks for new writes."""

CHECK_S = 5.0
"""Seconds between two looks for manual decisions, and for other indexes behind the name, while nothing is written."""

SETTLE_S = 10.0
"""Seconds for which documents are grouped between two looks, at most."""

REPORT_S = 1.0
"""Seconds between two messages about signed documents."""

MAX_PAUSE_S = 30.0
"""Seconds between two looks while the engine does not answer, at most."""

Wait = Callable[[float], bool]
"""Waits for some seconds; returns whether the follower was asked to end."""

Notify = Callable[[str], None]
"""Called with messages for people: how many documents were signed, whether the engine answers."""


def follow(
    settings: Settings, has_ended: Wait, report: Report = lambda *_: None, notify: Notify = lambda _: None
) -> str:
    """Sign the documents of an index, and then those that are added or changed.

    A follower that was ended goes on behind the last write that it signed.

    Args:
        settings: Which index.
        has_ended: Waits; returns whether to end.
        report: Called with the progress of the first pass.
        notify: Called with messages for people.

    Returns:
        The run's name.

    Raises:
        NoIndex: The index is not there, or was deleted.
    """
    while True:
        with open_for_backfill(settings) as (engine, source):
            backfill = start_in_place(engine, source, settings, report, follows=True)
            backfill.stop = lambda: has_ended(0)
            is_asked = _Following(backfill, source, engine, has_ended, notify).go_on()
            backfill.checkpoint.state = "followed"
            backfill.note("submitted")
        if is_asked:
            return backfill.checkpoint.run
        notify(f"other indexes are behind {settings.index!r} now; following these")


def follow_once_created(settings: Settings, has_ended: Wait, notify: Notify) -> None:
    """Follow an index as soon as it is there, and again when it was deleted and made anew.

    Args:
        settings: Which index.
        has_ended: Waits; returns whether to end.
        notify: Called with messages for people.
    """
    is_told = False
    while not has_ended(0.0 if not is_told else CHECK_S):
        try:
            if _exists(settings):
                is_told = False
                follow(settings, has_ended, notify=notify)
                return
        except NoIndex:
            pass
        except Unavailable as error:
            notify(f"{error}; waiting")
            is_told = True
        if not is_told:
            notify(f"there is no index {settings.index!r} yet; waiting for it")
            is_told = True


def _exists(settings: Settings) -> bool:
    source = open_reindex_source(settings.address, settings.index)
    try:
        return bool(source.parts())
    finally:
        source.close()


class _Following:
    """Looks again and again, less often while the engine does not answer.

    Args:
        backfill: The backfill of the index.
        source: The index.
        engine: The same index, whose documents are grouped once they are signed.
        has_ended: As in `follow`.
        notify: As in `follow`.
    """

    def __init__(
        self, backfill: Backfill, source: ReindexSource, engine: Engine, has_ended: Wait, notify: Notify
    ) -> None:
        self._backfill, self._source, self._engine = backfill, source, engine
        self._has_ended, self._notify = has_ended, notify
        self._pause = LOOK_S
        self._next_check = self._next_report = 0.0
        self._signed = 0
        self._is_changed = False

    def go_on(self) -> bool:
        """Sign all documents, then new ones; returns False when other indexes are behind the name, True when asked."""
        if self._try(self._backfill.run):
            documents = self._backfill.checkpoint.documents
            self._notify(f"{documents:,} documents looked at; following what others write")
        while not self._is_changed and not self._has_ended(self._pause):
            self._try(self._look)
            self._report()
        return not self._is_changed

    def _look(self) -> None:
        """Sign what was written since the last look, and settle its groups."""
        marks = parse_marks(self._backfill.checkpoint.upto)
        upto = self._source.newest(marks)
        if upto == marks and time.monotonic() < self._next_check:
            return
        self._is_changed = self._source.uuids() != self._backfill.checkpoint.uuids
        if self._is_changed:
            return
        documents = self._backfill.checkpoint.documents
        self._backfill.sign(upto, changes_only=True)
        self._signed += self._backfill.checkpoint.documents - documents
        settle(self._engine, SETTLE_S)
        self._next_check = time.monotonic() + CHECK_S

    def _report(self) -> None:
        """Say how many documents were signed, from time to time."""
        if self._signed and time.monotonic() >= self._next_report:
            self._notify(f"{time.strftime('%H:%M:%S')}  {self._signed:,} signed")
            self._signed, self._next_report = 0, time.monotonic() + REPORT_S

    def _try(self, step: Callable[[], None]) -> bool:
        """Do a step; returns False when the engine does not answer, so that the next step repeats it."""
        try:
            step()
        except Unavailable as error:
            self._notify(f"{error}; waiting")
            self._pause = min(max(1.0, 2 * self._pause), MAX_PAUSE_S)
            return False
        if self._pause > LOOK_S:
            self._notify("it answers again")
        self._pause = LOOK_S
        return True
