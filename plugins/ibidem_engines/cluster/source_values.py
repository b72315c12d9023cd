"""Raw JSON values of `_source`, kept to the byte, and dates in foreign formats."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from ibidem_ingest.document import interval

_DECODER = json.JSONDecoder(parse_float=len, parse_int=len, parse_constant=len)
"""Numbers are passed over, whatever they are."""

_BLANKS = re.compile(r"[ \t\r\n]*")

Span = tuple[int, int]


def members(text: str, at: int = 0) -> Iterator[tuple[str, Span]]:
    """Yield the names of an object's members, each with where its value stands.

    Args:
        text: JSON.
        at: Where the object begins.

    >>> [(name, '{"a": 1.50, "b": [2]}'[begin:end]) for name, (begin, end) in members('{"a": 1.50, "b": [2]}')]
    [('a', '1.50'), ('b', '[2]')]
    """
    at = _past_blanks(text, at + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = _past_blanks(text, at + 1)
        name, at = _DECODER.raw_decode(text, at)
        begin = _past_blanks(text, _past_blanks(text, at) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield name, (begin, end)
        at = _past_blanks(text, end)


def entries(text: str, at: int = 0) -> Iterator[Span]:
    """Yield where the entries of an array stand.

    Args:
        text: JSON.
        at: Where the array begins.
    """
    at = _past_blanks(text, at + 1)
    while text[at] != "]":
        if text[at] == ",":
            at = _past_blanks(text, at + 1)
        begin, (_, at) = at, _DECODER.raw_decode(text, at)
        yield begin, at
        at = _past_blanks(text, at)


def with_member(raw: bytes, name: str, value: bytes) -> bytes:
    """Give an object a member, in the place of one of that name or behind the others.

    Args:
        raw: The object as JSON.
        name: Of the member.
        value: As JSON.

    >>> with_member(b'{"price": 1.50}', "ibidem", b'{}')
    b'{"price": 1.50,"ibidem":{}}'
    """
    text, new = raw.decode().strip(), value.decode()
    spans = dict(members(text))
    if name in spans:
        begin, end = spans[name]
        return f"{text[:begin]}{new}{text[end:]}".encode()
    comma = "," if spans else ""
    return f"{text[:-1]}{comma}{json.dumps(name)}:{new}}}".encode()


def _past_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


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
