"""Version marks: the version in the name of a document, and the name of the work without it."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from ibidem_ingest.dates import iso_date, utc
from ibidem_ingest.text.folding import fold

MAX_NAME = 300  # characters of a name that are read

DECIMAL_WORDS = 3  # words of a name, its number among them, of which a number with a point is a version

Stage = Literal[0, 1, 2, 3]  # draft, plain, amended, final

STAGES: tuple[Stage, ...] = (0, 1, 2, 3)

_SUFFIX = re.compile(r"\.(?:pdf|docx?|odt|rtf|txt|text|md|rst|html?|xhtml|epub|eml|xml|gz|xz|zst|bz2)$")
_INTERNET_DRAFT = re.compile(r"\bdraft-[a-z0-9-]{1,200}-(\d\d)$")
_DATE = re.compile(
    r"(?<!\d)((?:1[5-9]|20)\d\d)(?:([-./_]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])|-(0[1-9]|1[0-2]))(?!\d)"
    r"|(?<!\d)\d{1,2}([./])\d{1,2}\6((?:1[5-9]|20)\d\d)(?!\d)"
)
_NUMBERED = re.compile(
    r"(?:(?<![^\W\d_])v[.:#_-]{0,3}"  # no blank: `United States v. 37 Photographs`
    r"|\b(?:version|vers|ver|rev|revision|release|draft|edition|ed|fassung|entwurf|auflage|ausgabe"
    r"|edicion|edizione|versione|revisione|versie|wersja|версия|редакция)[ .:#_-]{0,3})"
    r"(\d{1,4}\.\d{1,4}[a-z]|\d{1,4}(?:\.\d{1,4}){0,3})(?![^\W_])"
)
# A number with a point, of a name of several words: `Mozilla Public License 2.0`.
_DECIMAL = re.compile(r"(?<![\w.:/-])(\d{1,2}(?:\.\d{1,3}){1,3}[a-z]?)(?![\w.:/%-])(?! [ap]\.?m\b)")

# A number that tells an item of a series, and no version.
_COUNTED = re.compile(
    r"\b(?:section|sec|rule|chapter|part|article|art|clause|form|no|nr|item|schedule|annex|appendix|exhibit|table|figure"
    r"|policy|paragraph|par|title|book|abschnitt|kapitel|artikel|anlage|regel|seccion|articulo|capitulo|articolo|annexe)"
    r"[ .]{1,3}\d"
)

_LETTERED = re.compile(r"\b(?:version|rev|revision)[ .:_-]{1,3}([a-z])(?![^\W_])")
_ORDINAL = re.compile(
    r"(?<![\w.])(\d{1,3})(?:st|nd|rd|th|\.|e|a|o)? {1,2}"
    r"(?:edition|ed\b|version|draft|revision|auflage|fassung|entwurf|edicion|edizione|versione)"
)
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SPELLED = re.compile(rf"\b({'|'.join(_WORDS)}) (?:edition|version|draft|revision)\b")
_COPY = re.compile(r"[\s_-]\((\d{1,3})\)|(?<=\w)\((\d{1,3})\)$")
_YEAR = re.compile(
    r"(?<![^\W_])(?<![^\W_][/:])(?<!\d\.)((?:1[5-9]|20)\d\d)(?:\s{0,2}([-/\u2013])\s{0,2}(\d{1,9}))?"
    r"(?![^\W_])(?![-.\u2013]\d)(?![/:][^\W_])"
)
# Version marks of an identifier: behind a figure (`2301.00001v5`), at its end (`terms-v2`), or between slashes.
_TRAILING = re.compile(
    r"(?:(?<=\d)|(?<=[-/_.:]))(?:v|ver|version|rev|revision)[-_.]?(\d{1,4}(?:\.\d{1,4}){0,3})(?=/|$)"
)

_STAGE_WORDS: tuple[tuple[Stage, re.Pattern[str]], ...] = (
    (0, re.compile(r"\b(?:draft|entwurf|brouillon|avant-projet|borrador|bozza|ontwerp|rascunho)\b")),
    (
        2,
        re.compile(
            r"\b(?:as amended|amended|consolidated|revised|updated|superseded|geanderte?|konsolidierte?|neufassung"
            r"|consolidee?|modifiee?|consolidad[ao]|modificad[ao]|consolidat[ao]|modificat[ao])\b"
        ),
    ),
    (
        3,
        re.compile(r"\b(?:final|signed|executed|endfassung|endversion|definitive|definitiv[ao]|finale)\b(?: version)?"),
    ),
)
_NOISE = re.compile(r"\b(?:copy of|copy|kopie(?: von)?|copie(?: de)?|version|effective|last)\b")


@dataclass(frozen=True, slots=True)
class MarkedName:
    """A name, with its version marks."""

    work: str  # the words of the name without version marks, in lower case; empty if nothing else is in it
    number: tuple[int, ...] = ()  # the declared number, part by part (`2.1` is `(2, 1)`); empty if there is none
    stage: Stage = 1  # draft (0), plain (1), amended (2) or final (3)
    year: int | None = None  # the last year that was taken out of it; None if there was none
    dates: tuple[str, ...] = ()  # the dates and years that were removed from it, as written


def read_name(name: str) -> MarkedName:
    """Split a title, file name or first line into the name of the work and version marks.

    >>> read_name("Lease of the harbour house, rev. B (final).docx")
    MarkedName(work='lease of the harbour house', number=(2,), stage=3, year=None, dates=())
    >>> read_name("Harbour Public License 1.3c").number, read_name("Rule 10.1 of the harbour").number
    ((1, 3, 3), ())
    >>> read_name("Rent Act 1987, as amended").year, read_name("tenancy_v2.1_draft.pdf").number
    (1987, (2, 1))
    >>> read_name("Roe v. Wade").work, read_name("Regulation (EU) 2016/679").work
    ('roe v wade', 'regulation eu 2016 679')
    """
    text, number = _clean(name)
    text, dates, year = _take_years(text.replace("_", " "))
    for pattern in (_SPELLED, _ORDINAL, _NUMBERED, _LETTERED, _COPY, _DECIMAL):
        if pattern is _DECIMAL and not _counts_decimal(text):
            break
        for match in pattern.finditer(text):
            number = number or _read_number(next(group for group in match.groups() if group))
        text = pattern.sub(" ", text)
    stage: Stage = 1
    for each, words in _STAGE_WORDS:
        text, count = words.subn(" ", text)
        stage = each if count else stage
    return MarkedName(_words(_NOISE.sub(" ", text)), number, stage, year, dates)


def _counts_decimal(text: str) -> bool:
    """Return whether a decimal number is a version in a name from which other version marks were already removed."""
    words = sum(any(map(str.isalnum, word)) for word in text.split())
    return words >= DECIMAL_WORDS and not _COUNTED.search(text)


def read_identifier(name: str) -> MarkedName:
    """Parse an identifier or address; only explicit version marks count, since years and numbers identify the work.

    >>> read_identifier("http://data.europa.eu/eli/reg/2016/679/oj").work
    'http data europa eu eli reg 2016 679 oj'
    >>> read_identifier("arXiv:2301.00001v5")
    MarkedName(work='arxiv 2301 00001', number=(5,), stage=1, year=None, dates=())
    """
    text, number = _clean(name)
    if marks := _TRAILING.findall(text):
        number = number or _read_number(marks[-1])
    return MarkedName(_words(_TRAILING.sub(" ", text)), number)


def _clean(name: str) -> tuple[str, tuple[int, ...]]:
    """Return a name in lower case without its suffix, and the number at the end of an Internet-Draft."""
    text = _SUFFIX.sub("", fold(unicodedata.normalize("NFKC", name[:MAX_NAME]).lower()).strip())
    if (draft := _INTERNET_DRAFT.search(text)) is None:
        return text, ()
    return text[: draft.start(1)], (int(draft[1]),)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def read_number(value: object) -> tuple[int, ...]:
    """Parse the version number of a field; a date counts from its year on; empty if there is no number.

    >>> read_number("2.1"), read_number(3), read_number("rev. C"), read_number("Second"), read_number("new")
    ((2, 1), (3,), (3,), (2,), ())
    >>> read_number("2024-03-01"), read_number("15.02.2024")
    ((2024, 3, 1), (2024, 2, 15))
    """
    is_value = isinstance(value, str | int | float) and not isinstance(value, bool)
    text = str(value).strip()[:MAX_NAME] if is_value else ""
    is_long_number = re.fullmatch(r"[\d.]+", text) and re.search(r"\d{9}", text)
    if not is_long_number and (date := utc(iso_date(text))):
        return tuple(map(int, re.findall(r"\d+", date)))
    text = text.lower()
    if text in _WORDS or re.fullmatch(r"[a-z]", text):
        return _read_number(text)
    if (marked := read_name(text).number) and not re.fullmatch(r"[\d.]+", text):
        return marked
    return tuple(int(part) for part in re.findall(r"\d{1,9}", text)[:4])


def _take_years(text: str) -> tuple[str, tuple[str, ...], int | None]:
    """Remove dates and years from a name; returns the rest, the removed text, and the last year."""
    years: list[tuple[str, int]] = []

    def take(match: re.Match[str]) -> str:
        years.append((match[0], int(match[1] or match[7])))
        return " "

    text = _DATE.sub(take, text)
    text = _YEAR.sub(lambda match: take(match) if _is_time(match) else match[0], text)
    return text, tuple(written for written, _ in years), years[-1][1] if years else None


def _is_time(match: re.Match[str]) -> bool:
    """Return whether digits are a year, or two successive years, but not the number of an act (`2016/679`)."""
    year, sign, end = match.groups()
    if end is None:
        return True
    is_number = sign == "/" and match.string[: match.start()].rstrip().endswith(")")  # Regulation (EU) 2019/2020
    return not is_number and end in (str(int(year) + 1), f"{(int(year) + 1) % 100:02}")


def _read_number(text: str) -> tuple[int, ...]:
    """Parse `2.1`, `1.3c`, a letter or a word such as `third`."""
    if text in _WORDS:
        return (_WORDS.index(text) + 1,)
    if text.isalpha():
        return (ord(text) - ord("a") + 1,)
    parts = re.findall(r"\d+|[a-z]", text)
    return tuple(int(part) if part.isdigit() else ord(part) - ord("a") + 1 for part in parts)
