"""A document prepared for versions: its declarations, its names with their version, its date, a sample of its words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import xxhash

from ibidem_dedupe.relations import Hashes, hash_words, runs
from ibidem_ingest.dates import iso_date, utc
from ibidem_ingest.document import Document, text_batches
from ibidem_ingest.mail.head import is_mail
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
        if pattern is _DECIMAL:  # a version in a name from which other version marks were already removed
            words = sum(any(map(str.isalnum, word)) for word in text.split())
            if words < DECIMAL_WORDS or _COUNTED.search(text):
                break
        for match in pattern.finditer(text):
            number = number or _read_number(next(group for group in match.groups() if group))
        text = pattern.sub(" ", text)
    stage: Stage = 1
    for each, stage_words in _STAGE_WORDS:
        text, count = stage_words.subn(" ", text)
        stage = each if count else stage
    return MarkedName(_words(_NOISE.sub(" ", text)), number, stage, year, dates)


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
    is_number = re.fullmatch(r"[\d.]+", text)
    if not (is_number and re.search(r"\d{9}", text)) and (date := utc(iso_date(text))):
        return tuple(map(int, re.findall(r"\d+", date)))
    text = text.lower()
    if text in _WORDS or re.fullmatch(r"[a-z]", text):
        return _read_number(text)
    if (marked := read_name(text).number) and not is_number:
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


SAMPLE = 256  # runs of words that are kept of a text: those with the smallest hashes

HEADING = 120  # characters of a first line that may be a heading

ADDRESSES = frozenset(("identifier", "url"))  # kinds of names whose years and numbers name the work


@dataclass(frozen=True, eq=False, slots=True)
class VersionedDocument:
    id: str  # the document's id
    called: frozenset[str]  # what others may name it by: its id, its address, its identifiers
    works: frozenset[str]  # works that it declares to be a version of: names, ids or addresses
    replaces: frozenset[str]  # documents that it declares to replace
    replaced_by: frozenset[str]  # documents that it declares to be replaced by
    # Names of the work without version marks, by kind: `identifier`, `title`, `url`, `file` and `heading`.
    names: Mapping[str, str]
    dates: Mapping[str, tuple[str, ...]]  # the dates and years that names had in them, by kind
    number: tuple[int, ...]  # the declared number of the version, part by part; empty if there is none
    stage: Stage  # draft (0), plain (1), amended (2) or final (3)
    date: str  # its date, a time in UTC, or the year in its name; empty if there is none
    digest: bytes  # equal for texts of the same words
    sample: Hashes  # the smallest hashes of its runs of words, sorted
    runs: int  # number of its distinct runs
    roles: frozenset[str] = frozenset()  # what it is to the work that it is named after: `reply`, `dissent`

    @property
    def declares(self) -> bool:
        """Whether a field of the document names its work or another version."""
        return bool(self.works or self.replaces or self.replaced_by)


def versioned_documents(documents: Iterable[Document]) -> Iterator[VersionedDocument]:
    """Prepare documents; mails are skipped unless they declare a work, since answers have the same subject."""
    for some in text_batches(documents):
        hashes, ends = hash_words([unquoted(document.text) for document in some])
        for document, (start, end) in zip(some, pairwise(ends), strict=True):
            read = read_version(document, hashes[start:end])
            if read.declares or not is_mail(document.meta):
                yield read


def read_version(document: Document, words: Hashes) -> VersionedDocument:
    declared = _declared(document.meta)
    names = _names(document, declared.get("identifier", ()))
    marks = {kind: (read_identifier if kind in ADDRESSES else read_name)(text) for kind, text in names.items()}
    number = next((number for text in declared.get("number", ()) if (number := read_number(text))), ())
    distinct = np.unique(runs(words))
    year = next((each.year for each in marks.values() if each.year is not None), None)
    return VersionedDocument(
        id=document.id,
        called=frozenset({document.id, document.url, *declared.get("identifier", ())} - {""}),
        works=frozenset(declared.get("works", ())),
        replaces=frozenset(declared.get("replaces", ())),
        replaced_by=frozenset(declared.get("replaced_by", ())),
        names={kind: each.work for kind, each in marks.items() if each.work},
        dates={kind: each.dates for kind, each in marks.items() if each.dates},
        number=number or next((each.number for each in marks.values() if each.number), ()),
        stage=next((each.stage for each in marks.values() if each.stage != 1), 1),
        date=utc(document.date) or ("" if year is None else str(year)),
        digest=xxhash.xxh3_128_digest(words.tobytes()),
        sample=distinct[:SAMPLE].copy(),
        runs=distinct.size,
        roles=roles(document.text, document.title),
    )


# What is quoted is another's text: a sentence or more between quotation marks, in one paragraph.
_QUOTED = re.compile(
    r"""(?:(?<=[\s([])|^)["\u201c\u201e\u00ab](?:[^"\u201c\u201d\u201e\u00ab\u00bb\n]|\n(?!\s*\n)){40,3000}["\u201c\u201d\u00bb](?!\w)"""
)
LEAST_OWN = 0.25  # share of a text outside quotation marks under which quotation marks say nothing, as in a play


def unquoted(text: str) -> str:
    """Return a text without its quotations.

    >>> unquoted('We agree. The referee writes: "The sampling is careful, but I miss a word on density." It is added.')
    'We agree. The referee writes:  It is added.'
    """
    rest = _QUOTED.sub("", text)
    return rest if len(rest) > LEAST_OWN * len(text) else text


TITLE = 10  # characters of a title from which a text that begins with it in quotation marks is about the work

# Documents that have the name of a work and are no version of it, by how they begin.
_ROLES = {
    "reply": re.compile(r"\W*(?:repl(?:y|ies)|response|rebuttal|erwiderung|replik|reponse|respuesta|risposta) "),
    "report": re.compile(r"\W*(?:(?:report|review)(?: of| by)? )?(?:referee|reviewer|gutachte[nr])|\W*review of "),
    "comment": re.compile(r"\W*(?:comments? (?:on|by)|kommentar zu) "),
    "correction": re.compile(r"\W*(?:erratum|errata|corrigend(?:um|a)|correction to)\b"),
    "dissent": re.compile(r".{0,2000}?\bdissent(?:ing|s)?\b", re.DOTALL),
    "concurrence": re.compile(r".{0,2000}?\bconcurr(?:ing|ence)\b", re.DOTALL),
}


def roles(text: str, title: str = "") -> frozenset[str]:
    """Return what a text is to the work that it is named after.

    >>> roles("In re R. Q. B., a minor (dissenting). I would affirm."), roles("Replies to referee 1")
    (frozenset({'dissent'}), frozenset({'reply'}))
    >>> roles('Two notes on "Carbon in river meadows"', "Carbon in river meadows")
    frozenset({'about'})
    """
    start = text[:2_000].lower()
    is_about = len(title) >= TITLE and re.search(
        rf"[\"\u201c\u201e\u00ab]\s*{re.escape(title.lower())}", start[: HEADING + len(title)]
    )
    found = {name for name, pattern in _ROLES.items() if pattern.match(start)}
    return frozenset(found | ({"about"} if is_about else set()))


_FILE = re.compile(r"[^\s.]\.[a-zA-Z]{2,5}$")
_FIELDS = {
    "works": ("work", "workid", "isversionof", "versionof"),
    "replaces": ("replaces", "supersedes"),
    "replaced_by": ("isreplacedby", "replacedby", "supersededby"),
    "number": ("versionnumber", "documentversion", "docversion", "revision", "edition", "version"),
    "identifier": ("identifier", "doi", "eli", "celex", "ecli", "isbn"),
}
_KINDS = {name: kind for kind, names in _FIELDS.items() for name in names}


def _declared(meta: Mapping[str, object]) -> Mapping[str, Sequence[str]]:
    """Return the fields of a document that declare a version, by their meaning."""
    declarations: dict[str, list[str]] = {}
    for name, value in meta.items():
        kind = _KINDS.get(re.sub(r"[^a-z]", "", name.lower().removeprefix("dcterms")))
        for each in value if isinstance(value, list) else [value]:
            is_value = isinstance(each, str | int | float) and not isinstance(each, bool)
            if kind and is_value and str(each).strip():
                declarations.setdefault(kind, []).append(str(each).strip())
    return declarations


def _names(document: Document, identifiers: Sequence[str]) -> Mapping[str, str]:
    """Return the names of a document, by kind; without a title, the first line counts as a name."""
    file = document.id.rpartition("/")[2]
    line = document.text[: 10 * HEADING].lstrip(" \t\r\n\f#*_=-[").split("\n", 1)[0].strip()  # the first with words
    found = {
        "identifier": identifiers[0] if identifiers else "",
        "title": document.title,
        "url": document.url.split("://", 1)[-1].partition("#")[0],
        "file": file if _FILE.search(file) else "",
        "heading": "" if document.title or len(line) > HEADING else line,
    }
    return {kind: text for kind, text in found.items() if text}
