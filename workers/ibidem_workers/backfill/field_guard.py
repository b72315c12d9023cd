"""Guard of fields that a response may leave out: our writes must not change how many documents have them.

Others may write at the same time. So a count may differ by as many documents as there were writes that are not ours.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from ibidem_core.errors import Permanent
from ibidem_engines.engine import FieldCounts, ReindexSource, ReindexTarget
from ibidem_engines.stored_groups import Marks

REMEDY = "do not repeat the command; restore the values from their source, or from a snapshot"

# How often counts are compared before they are believed to differ: a write of others may be seen before its number.
MAX_LOOKS = 3

PAUSE = 0.5  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Comparison:
    """Numbers of documents with a field, before and after a write."""

    before: FieldCounts  # counts before it
    after: FieldCounts  # counts after it
    tolerance: int  # documents that may differ, since others wrote meanwhile

    def difference(self) -> str:
        """Return the first field whose numbers differ by more than a tolerance; empty if there is none."""
        for field, count in self.before.by_field.items():
            now = self.after.by_field.get(field, 0)
            if abs(now - count) > self.tolerance:
                return f"{count:,} documents had field {field!r}, and {now:,} have it now"
        return ""


def check_counts(look: Callable[[], Comparison], location: str) -> None:
    """Compare counts; if they differ, count again a few times."""
    for turn in range(MAX_LOOKS):
        time.sleep(PAUSE if turn else 0)
        difference = look().difference()
        if not difference:
            return
    raise Permanent(f"{location}: {difference}", REMEDY)


class FieldGuard:
    """Guards the documents of an index that are written in place."""

    def __init__(self, source: ReindexSource) -> None:
        self._source = source
        self._writes = 0
        self._is_verified = False
        self._counts = source.count_fields()
        self._marks: Marks = {}
        if self._counts.by_field:
            self._begin()

    @property
    def is_pending(self) -> bool:
        """Whether none of our writes is verified yet, so that no further page may be written."""
        return bool(self._counts.by_field) and not self._is_verified

    def note(self, writes: int) -> None:
        """Count our own writes."""
        self._writes += writes

    def check(self) -> None:
        """Compare the counts with those of the last check."""
        if not (self._counts.by_field and self._writes):
            return
        check_counts(self._look, f"index {self._source.index!r}")
        self._is_verified = True
        self._begin()

    def _look(self) -> Comparison:
        counts = self._source.count_fields()
        writes = sum(self._source.newest().values()) - sum(self._marks.values())
        return Comparison(self._counts, counts, max(0, writes - self._writes))

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
        return Comparison(counts, copied, max(0, later_writes) + max(0, counts.documents - copied.documents))

    check_counts(look, f"the copy {copy.name!r}, which has not replaced {source.index!r}")
