"""Dates: a time, a day, a month or a year, each as the interval of days that it covers.

One rule reads the dates of files, mails and other programs' indexes.
"""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from unicodedata import normalize

from ibidem_ingest.errors import UsageError, short_repr

EPOCH = date(1980, 1, 1)
_EPOCH_ORDINAL = EPOCH.toordinal()
_SHAPE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?P<time>[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII,
)
_REMEDY = "write a year (1787), a month (1787-09), a day (1787-09-17) or a time (1787-09-17T12:00:00Z)"


@lru_cache(maxsize=8_192)  # a collection has few days, and each is read three times
def interval(text: str) -> tuple[int | None, int | None]:
    """Return the first and the last day that a date covers."""
    if not text:
        return None, None
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise ValueError(f"{short_repr(text)} is not a date; {_REMEDY}")
    try:
        if shape["time"]:
            first = last = _utc(text).date()
        else:  # a year or a month covers its days
            first = date(int(shape["year"]), int(shape["month"] or 1), int(shape["day"] or 1))
            month = int(shape["month"] or 12)
            last = first.replace(month=month, day=int(shape["day"] or monthrange(first.year, month)[1]))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{short_repr(text)} is not a date ({error}); {_REMEDY}") from error
    return first.toordinal() - _EPOCH_ORDINAL, last.toordinal() - _EPOCH_ORDINAL


@lru_cache(maxsize=8_192)
def time_of_day(text: str) -> float:
    """Return the seconds since midnight UTC of a time; 0 for a date without a time, and for an empty one.

    >>> time_of_day("1980-01-02T00:30:00+02:00"), time_of_day("1980-01-02"), time_of_day("")
    (81000.0, 0.0, 0.0)
    """
    time = _time(text)
    return time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6 if time else 0.0


def utc(text: str) -> str:
    """Convert a time to UTC, without its zone, so that dates sort as strings; other dates are unchanged."""
    time = _time(text)
    return time.replace(tzinfo=None).isoformat() if time else text


def _time(text: str) -> datetime | None:
    """Return a time in UTC; None for a date without a time, and outside the calendar."""
    shape = _SHAPE.fullmatch(text)
    try:
        return _utc(text) if shape and shape["time"] else None
    except (ValueError, OverflowError):
        return None


def _utc(text: str) -> datetime:
    """Parse a time in UTC; a time without a zone counts as UTC."""
    time = datetime.fromisoformat(text)
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
    try:
        time = _EPOCH + timedelta(seconds=number if abs(number) < SECONDS_BELOW else number / 1000)
    except OverflowError:
        return ""
    return f"{time.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def _parse_text(text: str) -> str:
    for shape in _SHAPES:
        if match := shape.fullmatch(text):
            return f"{match['y']}-{int(match['m']):02}-{int(match['d']):02}"
    try:
        if _WEEK.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if _is_date(day := spelled_date(text, day_first=".")):
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
    """Format a day as ISO 8601."""
    return (EPOCH + timedelta(days=day)).isoformat()


# Names of months in English, French, German, Spanish and Italian; three letters or more of one are enough.
MONTHS = (
    "january janvier januar jänner enero gennaio",
    "february février februar febrero febbraio",
    "march mars märz maerz marzo",
    "april avril abril aprile",
    "may mai mayo maggio",
    "june juin juni junio giugno",
    "july juillet juli julio luglio",
    "august août agosto",
    "september septembre septiembre setiembre settembre",
    "october octobre oktober octubre ottobre",
    "november novembre noviembre",
    "december décembre dezember diciembre dicembre",
)

_NAMED = (
    re.compile(
        r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?(?P<month>[^\W\d]{3,})\.?,?\s+(?:de\s+)?(?P<year>\d{4})"
    ),
    re.compile(r"(?P<month>[^\W\d]{3,20}+)\.?+\s{1,9}+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})"),
    re.compile(r"(?P<month>[^\W\d]{3,20}+)\.?+,?+\s{1,9}+(?:de\s{1,9}+)?(?P<year>\d{4})"),
)
_WEEKDAY = re.compile(r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?,?\s+")
# A time such as `at 3:15 pm EST`, which is left out.
_CLOCK = re.compile(r"(?<!\s),?\s+(?:at\s+)?\d{1,2}:\d\d(?::\d\d)?\s?[ap]\.?m\.?(?:\s[a-z]{2,4})?$")
_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})(?:[/.](\d{1,2}))?")
# Dates of China, Japan and Korea, and the last year before each era of Japan.
_CHARACTERS = re.compile(
    r"(?P<era>\D{2})?\s?(?P<year>\d{1,4}|元)\s?[年년]\s?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日일])?"
)
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_YEAR_LAST = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
_MONTH_AND_YEAR = re.compile(r"(\d{1,2})[/.](\d{4})")


def iso_range(date_text: str) -> str:
    """Convert the two dates of a range, or one date, to ISO 8601."""
    return "..".join(spelled_date(each) for each in date_text.split(".."))


def spelled_date(date_text: str, day_first: str = ".-") -> str:
    """Convert a date to ISO 8601, keeping its precision; other text is returned unchanged.

    With the separators `day_first` the day stands before the month; with others it depends on the country, so that
    a date which may be read in two ways raises `UsageError`.
    """
    text = _CLOCK.sub("", _WEEKDAY.sub("", " ".join(normalize("NFKC", date_text).lower().split()), count=1))
    if (match := _CHARACTERS.fullmatch(text)) and (year := _year(match["era"] or "", match["year"])):
        return join_parts(year, int(match["month"]), int(match["day"] or 0))
    for pattern in _NAMED:
        if (match := pattern.fullmatch(text)) and (month := month_number(match["month"])):
            return join_parts(match["year"], month, int(match.groupdict().get("day") or 0))
    if match := _YEAR_FIRST.fullmatch(text):
        return join_parts(match[1], int(match[2]), int(match[3] or 0))
    if match := _MONTH_AND_YEAR.fullmatch(text):
        return join_parts(match[2], int(match[1]))
    if match := _YEAR_LAST.fullmatch(text):
        return join_parts(
            match[4], *month_and_day(date_text, int(match[1]), int(match[3]), is_day_first=match[2] in day_first)
        )
    return date_text.strip()


def month_number(name: str) -> int:
    """Return the number of a month; 0 if a name is unknown or ambiguous.

    >>> month_number("mar"), month_number("juillet"), month_number("ju")
    (3, 7, 0)
    """
    found = [number for number, names in enumerate(MONTHS, 1) if f" {name}" in f" {names}"]
    return found[0] if len(found) == 1 and len(name) > 2 else 0


def _year(era: str, number: str) -> str:
    """Return the year of a date in characters, counted from the begin of an era if it names one; empty if unknown."""
    if era:
        return str(_ERAS[era] + int(number.replace("元", "1"))) if era in _ERAS else ""
    return number if len(number) == 4 else ""


def month_and_day(date_text: str, first: int, second: int, *, is_day_first: bool) -> tuple[int, int]:
    """Return month and day; where the order depends on the country, only one of both may be a month."""
    if is_day_first or first > 12 or first == second:
        return second, first
    if second > 12:
        return first, second
    raise UsageError(
        f"date {date_text!r} may be read in two ways", "write the month by name, or the year first: 1987-03-04"
    )


def join_parts(year: str, month: int, day: int = 0) -> str:
    """Join year, month and day; the day is optional."""
    return f"{year}-{month:02}" + (f"-{day:02}" if day else "")
