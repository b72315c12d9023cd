"""Dates: a time, a day, a month or a year, each as the interval of days that it covers.

One rule reads the dates of files, mails and other programs' indexes.
"""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from ibidem_ingest import written_dates
from ibidem_ingest.errors import UsageError, short_repr

EPOCH = date(1980, 1, 1)
_EPOCH_ORDINAL = EPOCH.toordinal()
_SHAPE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?P<time>[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII,
)
_RIGHT = "write a year (1787), a month (1787-09), a day (1787-09-17) or a time (1787-09-17T12:00:00Z)"


@lru_cache(maxsize=8_192)  # a collection has few days, and each is read three times
def interval(date: str) -> tuple[int | None, int | None]:
    """Return the first and the last day that a date covers.

    >>> interval("1980-02")
    (31, 59)
    >>> interval("1980-01-02T00:30:00+02:00")
    (0, 0)
    """
    if not date:
        return None, None
    shape = _SHAPE.fullmatch(date)
    if shape is None:
        raise ValueError(f"{short_repr(date)} is not a date; {_RIGHT}")
    try:
        first, last = _days(shape)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{short_repr(date)} is not a date ({error}); {_RIGHT}") from error
    return first - _EPOCH_ORDINAL, last - _EPOCH_ORDINAL


def _days(shape: re.Match[str]) -> tuple[int, int]:
    """Return the day number of a well-formed date; raises ValueError or OverflowError outside the calendar."""
    year, month, day, time = shape.groups()
    if time:
        day = _utc(datetime.fromisoformat(shape.string)).toordinal()
        return day, day
    if day:
        ordinal = date(int(year), int(month), int(day)).toordinal()
        return ordinal, ordinal
    first_month, last_month = (int(month), int(month)) if month else (1, 12)
    first = date(int(year), first_month, 1)
    last = first.replace(month=last_month, day=monthrange(first.year, last_month)[1])
    return first.toordinal(), last.toordinal()


@lru_cache(maxsize=8_192)
def time_of_day(date: str) -> float:
    """Return the seconds since midnight UTC of a time; 0 for a date without a time, and for an empty one.

    >>> time_of_day("1980-01-02T00:30:00+02:00"), time_of_day("1980-01-02"), time_of_day("")
    (81000.0, 0.0, 0.0)
    """
    shape = _SHAPE.fullmatch(date)
    if shape is None or not shape["time"]:
        return 0.0
    try:
        time = _utc(datetime.fromisoformat(date))
    except (ValueError, OverflowError):
        return 0.0
    return time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6


def utc(date: str) -> str:
    """Convert a time to UTC, without its zone, so that dates sort as strings; other dates are unchanged.

    >>> utc("2024-03-01T00:30:00+02:00"), utc("2024-02-29T23:00Z"), utc("2024-03"), utc("")
    ('2024-02-29T22:30:00', '2024-02-29T23:00:00', '2024-03', '')
    """
    shape = _SHAPE.fullmatch(date)
    if shape is None or not shape["time"]:
        return date
    try:
        return _utc(datetime.fromisoformat(date)).replace(tzinfo=None).isoformat()
    except (ValueError, OverflowError):
        return date


def _utc(time: datetime) -> datetime:
    """Convert a time to UTC; a time without a zone counts as UTC."""
    return time if time.tzinfo is None else time.astimezone(UTC)


# A number below is seconds since 1970 (until 2286), one above milliseconds, as servers count them.
SECONDS_BELOW = 10_000_000_000

MAX_LENGTH = 100  # characters of a date; the rules for longer texts would only cost time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHAPES = tuple(
    re.compile(rf"{shape}(?:T\d.*| +\d\d?:\d\d.*)?", re.ASCII)
    for shape in (
        r"(?P<y>\d{4})/(?P<m>\d\d)/(?P<d>\d\d)",
        r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})",
        r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)",
        r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
    )
)
_WEEK = re.compile(r"\d{4}-?W\d\d-?\d", re.ASCII)


def iso_date(value: object) -> str:
    """Convert a date to ISO 8601; empty if it is unknown, or may be read in several ways.

    Read are: ISO 8601 as it is, `1987/10/19` and `1987/10/19 09:30:00`, `19871019`, `1987-W43-1`, `19.10.1987`, the
    dates of mail and HTTP (`Mon, 19 Oct 1987 09:30:00 GMT`), dates in words (`October 19, 1987`), and numbers: a year,
    or seconds or milliseconds since 1970. A date such as `10/11/1987` may be read in two ways, so it is not read.

    >>> [iso_date(value) for value in ("1787-09", "1987/10/19", 561600000000, 1787, "10/11/1987", "March 4, 2024")]
    ['1787-09', '1987-10-19', '1987-10-19T00:00:00Z', '1787', '', '2024-03-04']
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    if _is_date(text):
        return text
    if len(text) > MAX_LENGTH:
        return ""
    day = _parse_number(float(text)) if re.fullmatch(r"-?\d{9,15}(\.\d+)?", text, re.ASCII) else _parse_text(text)
    return day if _is_date(day) else ""


def _parse_number(number: float) -> str:
    """Parse seconds or milliseconds since 1970."""
    seconds = number if abs(number) < SECONDS_BELOW else number / 1000
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:
        return ""


def _parse_text(text: str) -> str:
    """Parse a date in the supported formats."""
    for shape in _SHAPES:
        if match := shape.fullmatch(text):
            return f"{match['y']}-{int(match['m']):02}-{int(match['d']):02}"
    try:
        if _WEEK.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if _is_date(day := written_dates.iso_date(text, day_first=".")):
            return day
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError, UsageError):
        return ""


def _is_date(text: str) -> bool:
    try:
        interval(text)
    except ValueError:
        return False
    return True


def iso_day(day: int) -> str:
    """Format a day as ISO 8601.

    >>> iso_day(31)
    '1980-02-01'
    """
    return (EPOCH + timedelta(days=day)).isoformat()
