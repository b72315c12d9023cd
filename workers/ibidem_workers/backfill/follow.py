"""Follower of an index: signs documents shortly after others add or change them.

An idle index costs it one request a look (`LOOK_S`), which reads the number of the last write of each shard. Groups are
settled in a thread, so that documents written meanwhile do not wait for their signatures.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Self

from ibidem_core.errors import NoIndex, Unavailable
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Beside, Engine, ReindexSource
from ibidem_engines.stored_groups import parse_marks
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.run import Backfill, Report, open_for_backfill, start_in_place
from ibidem_workers.batches import NO_RESULT
from ibidem_workers.groups.follower import settle

_log = logging.getLogger(__name__)

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
        self._reported = {"signed": 0, "refused": 0}
        self._is_changed = False

    def go_on(self) -> bool:
        """Sign all documents, then new ones; False if the name covers other indexes, True if asked to end."""
        if self._try(self._backfill.run) and not self._backfill.stop():
            checkpoint = self._backfill.checkpoint
            checkpoint.followed = checkpoint.followed or NO_RESULT.as_json()  # from now on only changes count
            self._settler.wake()
            self._reported = {"signed": self._backfill.signed, "refused": self._backfill.refused}
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
        counts = {"signed": self._backfill.signed, "refused": self._backfill.refused}
        phrases = [f"{new:,} {fate}" for fate, count in counts.items() if (new := count - self._reported[fate])]
        if phrases and time.monotonic() >= self._next_report:
            self._notify(f"{time.strftime('%H:%M:%S')}  {', '.join(phrases)}")
            self._reported, self._next_report = counts, time.monotonic() + REPORT_S

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
