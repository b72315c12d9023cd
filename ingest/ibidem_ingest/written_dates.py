"""Dates in common written forms: `3 March 1987`, `Mar 3, 1987`, `3.3.1987`, `March 1987`; converted to ISO 8601.

`dateutil` reads more forms, and fills what is left out with today's: of `March 1987` it makes a day, where a month is
meant; and it takes `3/4/1987` for one of two days without a word.
"""

import re
from unicodedata import normalize

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
    """Convert the two dates of a range, or one date, to ISO 8601.

    >>> iso_range("March 1987..3.6.1987"), iso_range("1987")
    ('1987-03..1987-06-03', '1987')
    """
    return "..".join(iso_date(each) for each in date_text.split(".."))


def iso_date(date_text: str, day_first: str = ".-") -> str:
    """Convert a date to ISO 8601, keeping its precision; other text is returned unchanged.

    With the separators `day_first` the day stands before the month; with others it depends on the country, so that
    a date which may be read in two ways raises `UsageError`.

    >>> [iso_date(each) for each in ("3 March 1987", "Tue, Mar. 3rd, 1987", "3. März 1987", "5/1987", "25/12/1987")]
    ['1987-03-03', '1987-03-03', '1987-03-03', '1987-05', '1987-12-25']
    >>> iso_date("2024年3月4日"), iso_date("令和6年3月4日")
    ('2024-03-04', '2024-03-04')
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
    found = {
        number
        for number, names in enumerate(MONTHS, 1)
        for each in names.split()
        if each == name or (len(name) > 2 and each.startswith(name))
    }
    return found.pop() if len(found) == 1 else 0


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
    """Join year, month and day; the day is optional.

    >>> join_parts("1987", 3), join_parts("1987", 3, 4)
    ('1987-03', '1987-03-04')
    """
    return f"{year}-{month:02}" + (f"-{day:02}" if day else "")
