"""Follow an index: sign what others add or change, until stopped."""

import time
from collections.abc import Callable

from ibidem_engines.engine import Engine
from ibidem_engines.errors import Unavailable
from ibidem_engines.reindex import ReindexSource
from ibidem_workers.backfill.checkpoint import parsed
from ibidem_workers.backfill.run import Backfill, Seen, open_for_backfill, start_in_place
from ibidem_workers.groups.service import settle
from ibidem_workers.settings import Settings

EVERY = 1.0
"""Seconds between two looks."""

SETTLES = 10.0
"""Seconds for which documents are grouped between two looks."""

LONGEST_PAUSE = 30.0
"""Seconds between two looks while the engine does not answer."""


def follow(
    settings: Settings,
    ended: Callable[[float], bool],
    seen: Seen = lambda *_: None,
    said: Callable[[str], None] = lambda _: None,
) -> str:
    """Sign what an index holds, and then what is added or changed.

    Args:
        settings: Which index.
        ended: Waits for so many seconds, and tells whether it was asked to end.
        seen: Called with the progress of what the index holds at first.
        said: Called with what people want to know: what was signed, whether the engine answers.

    Returns:
        The run's name.
    """
    with open_for_backfill(settings) as (engine, holding):
        backfill = start_in_place(engine, holding, settings, seen)
        _Following(backfill, holding, engine, ended, said).go_on()
        backfill.checkpoint.state = "done"
        backfill.note("submitted")
        return backfill.checkpoint.run


class _Following:
    """Looks again and again, less often while the engine does not answer.

    Args:
        backfill: What is followed.
        holding: The index.
        engine: The same, whose documents are grouped once they are signed.
        ended: As in `follow`.
        said: As in `follow`.
    """

    def __init__(
        self,
        backfill: Backfill,
        holding: ReindexSource,
        engine: Engine,
        ended: Callable[[float], bool],
        said: Callable[[str], None],
    ) -> None:
        self._backfill, self._holding, self._engine, self._ended, self._said = backfill, holding, engine, ended, said
        self._pause = EVERY

    def go_on(self) -> None:
        """Sign what is there, then what comes, until asked to end."""
        if self._tried(self._backfill.run):
            documents = self._backfill.checkpoint.documents
            self._said(f"{documents:,} documents looked at; following what others write")
        while not self._ended(self._pause):
            before = self._backfill.checkpoint.documents
            if self._tried(self._look) and (signed := self._backfill.checkpoint.documents - before):
                self._said(f"{time.strftime('%H:%M:%S')}  {signed:,} signed")

    def _look(self) -> None:
        upto = self._holding.newest(parsed(self._backfill.checkpoint.upto))
        self._backfill.sign(upto, changes_only=True)
        settle(self._engine, SETTLES)

    def _tried(self, step: Callable[[], None]) -> bool:
        """Do a step; what an engine that does not answer leaves is taken up by the next."""
        try:
            step()
        except Unavailable as error:
            self._said(f"{error}; waiting")
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            return False
        if self._pause > EVERY:
            self._said("it answers again")
        self._pause = EVERY
        return True
