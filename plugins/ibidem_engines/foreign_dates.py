"""Dates as other programs write them into an index, put into the one form that documents have."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from ibidem_ingest.dates import interval

SECONDS_BELOW = 10_000_000_000
"""A number below is seconds since 1970 (until 2286), one above milliseconds, as servers count them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHAPES = tuple(
    re.compile(shape, re.ASCII)
    for shape in (
        r"(?P<y>\d{4})/(?P<m>\d\d)/(?P<d>\d\d)(?:[ T].*)?",
        r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?:T.*)?",
        r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?: .*)?",
    )
)


def iso_date(value: object) -> str:
    """Write a date in ISO 8601; empty when it is not known which day is meant.

    Taken are: ISO 8601 as it is, `1987/10/19` and `1987/10/19 09:30:00`, `19871019`, `19.10.1987`, the dates of mail
    and HTTP (`Mon, 19 Oct 1987 09:30:00 GMT`), and numbers: a year, or seconds or milliseconds since 1970. A
    date such as `10/11/1987` is two days, so it is none.

    >>> [iso_date(value) for value in ("1787-09", "1987/10/19", 561600000000, 1787, "10/11/1987")]
    ['1787-09', '1987-10-19', '1987-10-19T00:00:00Z', '1787', '']
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    if _is_date(text):
        return text
    found = _of_number(float(text)) if re.fullmatch(r"-?\d{9,15}(\.\d+)?", text, re.ASCII) else _of_text(text)
    return found if _is_date(found) else ""


def _of_number(number: float) -> str:
    """Read seconds or milliseconds since 1970."""
    seconds = number if abs(number) < SECONDS_BELOW else number / 1000
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:
        return ""


def _of_text(text: str) -> str:
    """Read a date by the shapes above."""
    for shape in _SHAPES:
        if found := shape.fullmatch(text):
            return f"{found['y']}-{int(found['m']):02}-{int(found['d']):02}"
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError):
        return ""


def _is_date(text: str) -> bool:
    try:
        interval(text)
    except ValueError:
        return False
    return True
