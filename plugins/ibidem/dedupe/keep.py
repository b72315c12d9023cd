"""Which member of a group is shown as its lead; it never moves the group, and changes no membership."""

from collections.abc import Callable, Mapping, Sequence

from ibidem.dedupe.parameters import Keep, KeepBy
from ibidem_ingest.signatures.packed import NO_DATE, hash_value
from ibidem_ingest.signatures.packed_columns import PackedColumns

NEVER = 1 << 40
Worse = Callable[[PackedColumns, int], int]


def late_start(columns: PackedColumns, row: int) -> int:
    """Return the first day of a row's date; no date comes last."""
    day = int(columns.date_from[row])
    return day if columns.signed[row] and day != NO_DATE else NEVER


def early_end(columns: PackedColumns, row: int) -> int:
    """Return the last day of a row's date, later days first; no date comes last."""
    day = int(columns.date_to[row])
    return -day if columns.signed[row] and day != NO_DATE else NEVER


WORSE: Mapping[KeepBy, Worse] = {
    "rank": lambda _, row: row,
    "earliest": late_start,
    "latest": early_end,
    "longest": lambda columns, row: -int(columns.length[row]),
}
"""For each way of choosing a number that is least for the member to show."""


def by_source(sources: Sequence[str]) -> Worse:
    """Order by the place of a row's source in a list; sources that are not listed come last.

    A packed value holds four bytes of a hash of the source: two names meet once in four billion pairs.
    """
    places = {
        int.from_bytes(hash_value(name.encode()), "little"): place for place, name in reversed(list(enumerate(sources)))
    }
    return lambda columns, row: places.get(int(columns.source[row]), NEVER)


def shown_lead(columns: PackedColumns, members: Sequence[int], keep: Keep) -> int:
    """Return the member that is shown as the lead; ties go to the first in rank.

    Args:
        columns: The packed values of the window.
        members: Rows to choose from, in rank order: those of the step of the window in which the group began.
        keep: How to choose.
    """
    worse = by_source(keep.sources) if keep.by == "source" else WORSE[keep.by]
    return min(members, key=lambda row: (worse(columns, row), row))
