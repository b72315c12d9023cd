"""Dates in common written forms: `3 March 1987`, `Mar 3, 1987`, `3.3.1987`, `March 1987`; parsed as ISO 8601.

`dateutil` reads more forms, and fills what is left out with today's: of `March 1987` it makes a day, where a month is
meant; and it takes `3/4/1987` for one of two days without a word.
"""

import re

from ibidem_ingest.errors import UsageError

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
_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})(?:[/.](\d{1,2}))?")
_YEAR_LAST = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
_MONTH_AND_YEAR = re.compile(r"(\d{1,2})[/.](\d{4})")


def iso_range(date_text: str) -> str:
    """Convert the two dates of a range, or one date, to ISO 8601.

    >>> iso_range("March 1987..3.6.1987"), iso_range("1987")
    ('1987-03..1987-06-03', '1987')
    """
    return "..".join(iso_date(each) for each in date_text.split(".."))


def iso_date(date_text: str) -> str:
    """Convert a date to ISO 8601, keeping its precision; other text is returned unchanged.

    >>> [iso_date(each) for each in ("3 March 1987", "Mar. 3rd, 1987", "3. März 1987", "5/1987", "25/12/1987")]
    ['1987-03-03', '1987-03-03', '1987-03-03', '1987-05', '1987-12-25']
    """
    text = " ".join(date_text.lower().split())
    for pattern in _NAMED:
        if (match := pattern.fullmatch(text)) and (month := month_number(match["month"])):
            return join_parts(match["year"], month, int(match.groupdict().get("day") or 0))
    if match := _YEAR_FIRST.fullmatch(text):
        return join_parts(match[1], int(match[2]), int(match[3] or 0))
    if match := _MONTH_AND_YEAR.fullmatch(text):
        return join_parts(match[2], int(match[1]))
    if match := _YEAR_LAST.fullmatch(text):
        return join_parts(match[4], *month_and_day(date_text, int(match[1]), int(match[3]), match[2]))
    return date_text.strip()


def month_number(name: str) -> int:
    """Return the number of a month; 0 if a name is unknown or ambiguous.

    >>> month_number("mar"), month_number("juillet"), month_number("ju")
    (3, 7, 0)
    """
    found = {
        number
        for number, names in enumerate(MONTHS, 1)
        for each in names.split()
        if each == name or (len(name) > 2 and each.startswith(name))
    }
    return found.pop() if len(found) == 1 else 0


def month_and_day(date_text: str, first: int, second: int, separator: str) -> tuple[int, int]:
    """Return month and day: with points and hyphens the day comes first, with slashes it depends on the country."""
    if separator != "/" or first > 12 or first == second:
        return second, first
    if second > 12:
        return first, second
    raise UsageError(
        f"date {date_text!r} may be read in two ways", "write the month by name, or the year first: 1987-03-04"
    )


def join_parts(year: str, month: int, day: int = 0) -> str:
    """Join year, month and day; the day is optional.

    >>> join_parts("1987", 3), join_parts("1987", 3, 4)
    ('1987-03', '1987-03-04')
    """
    return f"{year}-{month:02}" + (f"-{day:02}" if day else "")
