"""Guard of the fields that an answer may leave out: as many documents have each after a write of ours as before.

Others may write at the same time. So a count may differ by as many documents as there were writes that are not ours.
"""

from ibidem_core.errors import Permanent
from ibidem_engines.reindex import FieldCounts, Marks, ReindexSource, ReindexTarget

REMEDY = "do not repeat the command; bring the values back from where they came, or from a snapshot"


class FieldGuard:
    """Guards the documents of an index that are written in their place.

    Args:
        source: The index; its documents are counted at once.
    """

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
        """Whether no write of ours has been verified yet, so that no further page may be written."""
        return bool(self._counts.by_field) and not self._is_verified

    def note(self, writes: int) -> None:
        """Count writes of ours."""
        self._writes += writes

    def check(self) -> None:
        """Compare the counts with those at the last check.

        Raises:
            Permanent: Documents have lost a field, or gained one.
        """
        if not (self._counts.by_field and self._writes):
            return
        counts = self._source.count_fields()
        writes = sum(self._source.newest().values()) - sum(self._marks.values())
        check_counts(self._counts, counts, max(0, writes - self._writes), f"index {self._source.index!r}")
        self._is_verified = True
        self._begin()

    def _begin(self) -> None:
        """Count from now on: first the writes, so that none which the documents show is left out."""
        self._writes, self._marks = 0, self._source.newest()
        self._counts = self._source.count_fields()


def check_copy(source: ReindexSource, copy: ReindexTarget, upto: Marks) -> None:
    """Compare the fields of a copy with those of the index it is to replace.

    Args:
        source: The index.
        copy: The copy of what was written up to `upto`.
        upto: Last write of each part that was copied.

    Raises:
        Permanent: Documents of the copy lack a field, or have one too many.
    """
    counts = source.count_fields()
    if not counts.by_field:
        return
    copied = copy.count_fields()
    later_writes = sum(source.newest().values()) - sum(upto.values())
    refused = max(0, counts.documents - copied.documents)
    where = f"the copy {copy.name!r}, which has not taken the place of {source.index!r},"
    check_counts(counts, copied, max(0, later_writes) + refused, where)


def check_counts(before: FieldCounts, after: FieldCounts, tolerance: int, where: str) -> None:
    """Compare two counts of documents by field.

    Args:
        before: Counts before a write.
        after: Counts after it.
        tolerance: Documents that may differ, since others wrote meanwhile.
        where: The index, for the message.

    Raises:
        Permanent: They differ by more.
    """
    for field, count in before.by_field.items():
        now = after.by_field.get(field, 0)
        if abs(now - count) > tolerance:
            raise Permanent(f"{where}: {count:,} documents had field {field!r}, and {now:,} have it now", REMEDY)
