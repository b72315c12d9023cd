"""Version marks: what the name of a document says about its version, and the name of the work without it."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from ibidem_ingest.text.folding import fold

LONGEST = 300
"""Characters of a name that are read."""

Stage = Literal[0, 1, 2, 3]
"""Draft, plain, amended, final."""

_SUFFIX = re.compile(r"\.(?:pdf|docx?|odt|rtf|txt|text|md|rst|html?|xhtml|epub|eml|xml|gz|xz|zst|bz2)$")
_INTERNET_DRAFT = re.compile(r"\bdraft-[a-z0-9-]{1,200}-(\d\d)$")
_DATE = re.compile(
    r"(?<!\d)((?:1[5-9]|20)\d\d)(?:([-./_]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])|-(0[1-9]|1[0-2]))(?!\d)"
    r"|(?<!\d)\d{1,2}([./])\d{1,2}\6((?:1[5-9]|20)\d\d)(?!\d)"
)
_NUMBERED = re.compile(
    r"(?:(?<![^\W\d_])v|\b(?:version|vers|ver|rev|revision|release|draft|edition|ed|fassung|entwurf|auflage|ausgabe"
    r"|edicion|edizione|versione|revisione|versie|wersja|версия|редакция))"
    r"[ .:#_-]{0,3}(\d{1,4}(?:\.\d{1,4}){0,3})(?![^\W_])"
)
_LETTERED = re.compile(r"\b(?:version|rev|revision)[ .:_-]{1,3}([a-z])(?![^\W_])")
_ORDINAL = re.compile(
    r"(?<![\w.])(\d{1,3})(?:st|nd|rd|th|\.|e|a|o)? {1,2}"
    r"(?:edition|ed\b|version|draft|revision|auflage|fassung|entwurf|edicion|edizione|versione)"
)
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SPELLED = re.compile(rf"\b({'|'.join(_WORDS)}) (?:edition|version|draft|revision)\b")
_COPY = re.compile(r"[\s_-]\((\d{1,3})\)|(?<=\w)\((\d{1,3})\)$")
_YEAR = re.compile(r"(?<![^\W_])(?<!\d\.)((?:1[5-9]|20)\d\d)(?:\s{0,2}[-/\u2013]\s{0,2}\d{2,4})?(?![^\W_])(?!\.\d)")
_STAGES: tuple[tuple[Stage, re.Pattern[str]], ...] = (
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
    """A name, with what it says about the version.

    Args:
        work: The words of the name without version marks, in lower case; empty where nothing else is in it.
        number: The declared number, part by part (`2.1` is `(2, 1)`); empty where there is none.
        stage: Draft (0), plain (1), amended (2) or final (3).
        year: The year in the name; None where there is none.
    """

    work: str
    number: tuple[int, ...] = ()
    stage: Stage = 1
    year: int | None = None


def read_name(name: str) -> MarkedName:
    """Part a title, the name of a file or a first line into the name of the work and version marks.

    >>> read_name("Lease of the harbour house, rev. B (final).docx")
    MarkedName(work='lease of the harbour house', number=(2,), stage=3, year=None)
    >>> read_name("Rent Act 1987, as amended").year, read_name("tenancy_v2.1_draft.pdf").number
    (1987, (2, 1))
    >>> read_name("Roe v. Wade").work
    'roe v wade'
    """
    text = fold(unicodedata.normalize("NFKC", name[:LONGEST]).lower()).strip()
    text = _SUFFIX.sub("", text)
    number: tuple[int, ...] = ()
    if (draft := _INTERNET_DRAFT.search(text)) is not None:
        number, text = (int(draft[1]),), text[: draft.start(1)]
    text, year = _take_years(text.replace("_", " "))
    for pattern in (_SPELLED, _ORDINAL, _NUMBERED, _LETTERED, _COPY):
        for match in pattern.finditer(text):
            number = number or _read_number(next(group for group in match.groups() if group))
        text = pattern.sub(" ", text)
    stage: Stage = 1
    for each, words in _STAGES:
        text, count = words.subn(" ", text)
        stage = each if count else stage
    return MarkedName(" ".join(re.findall(r"\w+", _NOISE.sub(" ", text))), number, stage, year)


def read_number(value: object) -> tuple[int, ...]:
    """Read the number of a version that a field declares; empty where there is none.

    >>> read_number("2.1"), read_number(3), read_number("rev. C"), read_number("2024-03-01"), read_number("new")
    ((2, 1), (3,), (3,), (2024, 3, 1), ())
    """
    text = str(value).strip().lower()[:LONGEST] if isinstance(value, str | int | float) else ""
    if re.fullmatch(r"[a-z]", text):
        return _read_number(text)
    if (marked := read_name(text).number) and not re.fullmatch(r"[\d.]+", text):
        return marked
    return tuple(int(part) for part in re.findall(r"\d{1,9}", text)[:4])


def _take_years(text: str) -> tuple[str, int | None]:
    """Take dates and years out of a name; returns the rest, and the last year."""
    years = [int(match[1] or match[7]) for match in _DATE.finditer(text)]
    text = _DATE.sub(" ", text)
    years += [int(match[1]) for match in _YEAR.finditer(text)]
    return _YEAR.sub(" ", text), years[-1] if years else None


def _read_number(text: str) -> tuple[int, ...]:
    """Read `2.1`, a letter or a word such as `third`."""
    if text in _WORDS:
        return (_WORDS.index(text) + 1,)
    if text.isalpha():
        return (ord(text) - ord("a") + 1,)
    return tuple(map(int, text.split(".")))
