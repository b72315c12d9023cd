"""Dates as people know them: a time, a day, a month or a year, each the interval of the days it covers."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime

from ibidem_ingest.shown import shown

EPOCH = date(1980, 1, 1)
_EPOCH_ORDINAL = EPOCH.toordinal()
_SHAPE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?P<time>[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII,
)
_RIGHT = "write a year (1787), a month (1787-09), a day (1787-09-17) or a time (1787-09-17T12:00:00Z)"


def interval(date: str) -> tuple[int | None, int | None]:
    """Give the first and the last day that a date covers.

    Args:
        date: ISO 8601 in its form with hyphens: a time, a day, a month or a year from 1 to 9999; empty when unknown. A
            time without a zone is UTC, one with a zone falls on the day it has in UTC.

    Returns:
        First and last day, both included, in days since 1980-01-01; twice None when the date is unknown. The packed
        signatures keep them in 32 bits, which these years never fill.

    Raises:
        ValueError: No such date; the message says what would be right.

    >>> interval("1980-02")
    (31, 59)
    >>> interval("1980-01-02T00:30:00+02:00")
    (0, 0)
    """
    if not date:
        return None, None
    shape = _SHAPE.fullmatch(date)
    if shape is None:
        raise ValueError(f"{shown(date)} is not a date; {_RIGHT}")
    try:
        first, last = _days(shape)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{shown(date)} is not a date ({error}); {_RIGHT}") from error
    return first - _EPOCH_ORDINAL, last - _EPOCH_ORDINAL


def _days(shape: re.Match[str]) -> tuple[int, int]:
    """Count the days of a date that has the right shape; those of no calendar raise ValueError or OverflowError."""
    year, month, day, time = shape.groups()
    if time:
        at = _utc(datetime.fromisoformat(shape.string)).toordinal()
        return at, at
    if day:
        at = date(int(year), int(month), int(day)).toordinal()
        return at, at
    first_month, last_month = (int(month), int(month)) if month else (1, 12)
    first = date(int(year), first_month, 1)
    last = first.replace(month=last_month, day=monthrange(first.year, last_month)[1])
    return first.toordinal(), last.toordinal()


def _utc(time: datetime) -> datetime:
    """Move a time to UTC; one without a zone is there already."""
    return time if time.tzinfo is None else time.astimezone(UTC)
