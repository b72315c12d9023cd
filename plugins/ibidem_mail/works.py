"""Works: the documents that are versions of one work, by declarations, by names, and by shared text; and their order.

A field that declares it is believed. A name alone is not: two documents of one name share text, or they are two works,
since every company has a privacy policy, and something has to say which came first: a number, a stage or a date. Else
they are of one work only if they are nearly the same, as copies are: opinions on a case, or a paper and its review,
share title and day. Two numbers in a name that few works have need less text. Documents whose names differ are two
works, whatever they share; where one has no name, text decides. Works that are declared to be two are never joined,
and text alone joins no two works of different titles, as an untitled document between them might.

Cost grows with the text: of each document some runs are looked up, and each is compared with the few before it that
have the same run or name.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
import xxhash

from ibidem_dedupe.relations import NO_WORDS, Hashes, hash_words, runs
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


class MarkedName(NamedTuple):
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


def versioned_documents(documents: Iterable[Document]) -> Iterator[VersionedDocument]:
    """Prepare documents; mails are skipped unless they declare a work, since answers have the same subject."""
    for some in text_batches(documents):
        hashes, ends = hash_words([unquoted(document.text) for document in some])
        for document, (start, end) in zip(some, pairwise(ends), strict=True):
            read = read_version(document, hashes[start:end])
            if read.works or read.replaces or read.replaced_by or not is_mail(document.meta):
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


By = Literal["declared", "name", "text"]
Name = tuple[str, str]
Key = Name | int
Relation = Literal["numbered", "same", "series", "heading", "longer", "none", "other"]

RUN_SAMPLE = 24  # runs of a document that are looked up: those with the smallest hashes

MAX_CANDIDATES = 8  # documents that a document is compared with, of those before it that have the same run or name

# Share of runs that two documents have in common at the least, by how their names compare.
MIN_SHARED: Mapping[Relation, float] = {
    "numbered": 0.15,
    "same": 0.15,
    "series": 0.15,
    "heading": 0.15,
    "longer": 0.3,
    "none": 0.3,
}

# The same for names that few works have, unless one text is far shorter: what is left of one that was written anew.
# A name of several words with two numbers says itself that it has versions: a run in common is enough. Names that
# differ in a date alone (`series`) may be those of issues, which share a footer: they need as much as others.
MIN_SHARED_RARE: Mapping[Relation, float] = {**MIN_SHARED, "numbered": 1 / SAMPLE, "same": 0.02, "heading": 0.08}

MIN_LENGTH = 0.1  # runs of the shorter one of two texts that share little, by those of the longer one

COPY_SHARE = 0.9  # share of runs from which documents of one name are of one work though nothing says which came first

MAX_WORKS = 4  # works that have a name at the most for it to be rare; counted when those that share much are joined

WEAK_KINDS = frozenset(("heading",))  # kinds of names that stand in for a missing one


@dataclass(eq=False, slots=True)
class Works:
    """Documents, joined into works."""

    documents: Sequence[VersionedDocument]  # the documents, in the order of their dates
    # For each joined pair of rows, the earlier one first, what says that they are of one work.
    by: dict[tuple[int, int], By] = field(default_factory=dict)
    _root: list[int] = field(default_factory=list)
    # Of each root, the works that its documents declare to be of, and their titles without version marks.
    _declared: list[frozenset[str]] = field(default_factory=list)
    _titles: list[frozenset[str]] = field(default_factory=list)

    @classmethod
    def find(cls, documents: Iterable[VersionedDocument]) -> "Works":
        ordered = sorted(documents, key=lambda each: (each.date, each.number, each.id))
        titles = [frozenset({each.names["title"]} if "title" in each.names else ()) for each in ordered]
        works = cls(ordered, {}, list(range(len(ordered))), [each.works for each in ordered], titles)
        called: dict[str, int] = {}  # the first document with each name that others may refer to
        for row, document in enumerate(ordered):
            for name in document.called:
                called.setdefault(name, row)
        declared: dict[str, int] = {}
        for row, document in enumerate(ordered):
            for name in sorted(document.works):
                if (other := declared.setdefault(name, called.get(name, row))) != row:
                    works._join(other, row, "declared")
        for row, document in enumerate(ordered):
            for name in sorted(document.replaces | document.replaced_by):
                if (other := called.get(name, row)) != row and not works._are_declared_two(other, row):
                    works._join(other, row, "declared")
        unsure = [pair for pair in works._candidates() if not works._join_by_text(*pair, frozenset(), MIN_SHARED)]
        common = works._common_names()
        for a, b, share in unsure:
            works._join_by_text(a, b, share, common, MIN_SHARED_RARE)
        return works

    def members(self) -> Iterator[list[int]]:
        """Yield the rows of each work, in the order of its first document."""
        rows = sorted(range(len(self.documents)), key=self._find)
        yield from (list(each) for _, each in groupby(rows, self._find))

    def _find(self, row: int) -> int:
        root = self._root
        while root[row] != row:
            root[row] = root[root[row]]
            row = root[row]
        return row

    def _join(self, a: int, b: int, by: By) -> None:
        self.by.setdefault((min(a, b), max(a, b)), by)
        first, second = sorted((self._find(a), self._find(b)))
        if first != second:
            self._root[second] = first
            self._declared[first] |= self._declared[second]
            self._titles[first] |= self._titles[second]

    def _are_declared_two(self, a: int, b: int) -> bool:
        """Return whether the works of two documents are declared to be different."""
        one, other = self._declared[self._find(a)], self._declared[self._find(b)]
        return bool(one and other) and one.isdisjoint(other)

    def _join_by_text(
        self, a: int, b: int, share: float, common: frozenset[Name], minimum: Mapping[Relation, float]
    ) -> bool:
        """Join the works of two documents that share enough text."""
        relation = name_relation(self.documents[a], self.documents[b], common)
        if relation == "other" or self._are_declared_two(a, b):
            return True
        if share < minimum[relation]:
            return share < MIN_SHARED_RARE[relation]
        if relation != "none" and not may_be_versions(self.documents[a], self.documents[b], relation, share):
            return True
        one, other = self._titles[self._find(a)], self._titles[self._find(b)]
        if relation == "none" and one and other and one.isdisjoint(other):
            return True
        self._join(a, b, "text" if relation == "none" else "name")
        return True

    def _common_names(self) -> frozenset[Name]:
        """Return the names that many works have."""
        works: defaultdict[Name, set[int]] = defaultdict(set)
        for row, document in enumerate(self.documents):
            for name in document.names.items():
                works[name].add(self._find(row))
        return frozenset(name for name, roots in works.items() if len(roots) > MAX_WORKS)

    def _candidates(self) -> Iterator[tuple[int, int, float]]:
        """Yield pairs, not yet joined, that share a name or a run of words, with their similarity."""
        holders: dict[Key, list[int]] = {}
        for row, document in enumerate(self.documents):
            others: set[int] = set()
            for key in (*document.names.items(), *document.sample[:RUN_SAMPLE].tolist()):
                others.update(note(holders, key, row))
            for other in sorted(others, reverse=True):
                if self._find(other) != self._find(row) and (share := shared(self.documents[other], document)):
                    yield other, row, share


def note(holders: dict[Key, list[int]], key: Key, row: int) -> Sequence[int]:
    """Return the nearest rows with a key, then add a row; only the nearest rows are kept.

    >>> holders = {}
    >>> [note(holders, "rent", row) for row in range(20)][-1], len(holders["rent"])
    ([11, 12, 13, 14, 15, 16, 17, 18], 8)
    """
    line = holders.get(key, [])
    holders[key] = [*line[1 - MAX_CANDIDATES :], row]
    return line


def name_relation(a: VersionedDocument, b: VersionedDocument, common: frozenset[Name] = frozenset()) -> Relation:
    """Return how the names of two documents compare, ignoring version marks."""
    equal = {kind for kind, name in a.names.items() if b.names.get(kind) == name}
    rare = {kind for kind in equal if (kind, a.names[kind]) not in common}
    if equal:
        return _equal_relation(a, b, rare) if rare else "none"
    kinds = (a.names.keys() & b.names.keys()) - WEAK_KINDS
    words = [(set(a.names[kind].split()), set(b.names[kind].split())) for kind in kinds]
    is_longer = any(one <= other or other <= one for one, other in words)
    if is_longer and not (a.number and b.number):  # the Lesser General Public License 2.1 has versions of its own
        return "longer"
    return "other" if words else "none"


def may_be_versions(a: VersionedDocument, b: VersionedDocument, relation: Relation, share: float) -> bool:
    """Return whether two documents of one name are copies, or play one role and something says which came first."""
    if share >= COPY_SHARE or relation == "numbered":
        return True
    is_alike = share >= MIN_SHARED[relation] or min(a.runs, b.runs) >= MIN_LENGTH * max(a.runs, b.runs)
    has_dates = bool(a.date and b.date) and not (a.date.startswith(b.date) or b.date.startswith(a.date))
    return is_alike and a.roles == b.roles and (has_dates or (a.number, a.stage) != (b.number, b.stage))


def _equal_relation(a: VersionedDocument, b: VersionedDocument, kinds: set[str]) -> Relation:
    """Return the relation of two equal names, by their kinds."""
    strong = kinds - WEAK_KINDS
    if not strong:
        return "heading"
    if a.number and b.number and a.number != b.number and any(a.names[kind].count(" ") > 1 for kind in strong):
        return "numbered"
    has_one_date = any(not (one := a.dates.get(kind)) or b.dates.get(kind, one) == one for kind in strong)
    return "same" if has_one_date else "series"


def shared(a: VersionedDocument, b: VersionedDocument) -> float:
    """Estimate the share of runs that two documents have in common.

    Broder, "On the resemblance and containment of documents" (1997), section 4: the smallest hashes of both together
    are a sample of all runs; those that both have are counted. Texts of fewer runs than a sample holds are compared
    whole.
    """
    if not a.runs or not b.runs:
        return float(a.digest == b.digest)
    both = np.union1d(a.sample, b.sample)[:SAMPLE]
    in_both = np.intersect1d(a.sample, b.sample, assume_unique=True)
    return float(np.isin(both, in_both, assume_unique=True).sum()) / both.size


OrderKey = tuple[tuple[int, ...], str, Stage]  # by what a version is ordered: number, date and stage


@dataclass(frozen=True, slots=True)
class Version:
    work: str  # id of the first version
    id: str  # the document's id
    version: int  # its place among the versions, from 1; copies that follow each other have the same
    current: bool  # whether it is the last version; of copies, the last by name or date
    replaces: str | None  # id of its predecessor; None for the first version
    by: By | None  # what says that it is of the work: `declared`, `name` or `text`; None for the first document


def versions(works: Works) -> Iterator[Version]:
    """Yield each document as a version, work by work, in order."""
    reasons = _reasons(works)
    for rows in works.members():
        row_of = {works.documents[row]: row for row in rows}
        ordered = sort_versions(list(row_of))
        copies = [list(each) for _, each in groupby(ordered, lambda document: document.digest)]
        last_of = [next(each for each in same if _marks(each) == _marks(same[-1])) for same in copies]
        places = [place for place, same in enumerate(copies, 1) for _ in same]
        for document, place in zip(ordered, places, strict=True):
            yield Version(
                work=ordered[0].id,
                id=document.id,
                version=place,
                current=document is last_of[-1],
                replaces=last_of[place - 2].id if place > 1 else None,
                by=None if document is ordered[0] else reasons.get(row_of[document]),
            )


def _marks(document: VersionedDocument) -> OrderKey:
    return document.number, document.date, document.stage


def _reasons(works: Works) -> Mapping[int, By]:
    """Return for each row the reason that joined it to the nearest earlier document."""
    reasons: dict[int, tuple[int, By]] = {}
    for (a, b), by in works.by.items():
        for row, distance in ((b, b - a), (a, len(works.documents) + b - a)):
            if row not in reasons or distance < reasons[row][0]:
                reasons[row] = distance, by
    return {row: by for row, (_, by) in reasons.items()}


def sort_versions(documents: Sequence[VersionedDocument]) -> list[VersionedDocument]:
    """Sort the versions of a work by number, date, and draft before final; a successor comes later.

    A document without a number comes where its date puts it among those that have one, and a document without a date
    behind those of an earlier stage: a final one behind all drafts. Of equal ones the first comes first.
    """
    keys = _keys(documents)
    named = {name: at for at, document in reversed(list(enumerate(documents))) for name in document.called}
    predecessors: dict[int, set[int]] = {at: set() for at in range(len(documents))}
    for position, document in enumerate(documents):
        for name in document.replaces:
            predecessors[position].add(named.get(name, position))
        for name in document.replaced_by:
            predecessors[named.get(name, position)].add(position)
    sorter = TopologicalSorter(_cut_circles(keys, predecessors))
    sorter.prepare()
    ordered: list[VersionedDocument] = []
    ready: list[tuple[OrderKey, int]] = []
    while sorter.is_active():
        for each in sorter.get_ready():
            heappush(ready, (keys[each], each))
        _, position = heappop(ready)
        ordered.append(documents[position])
        sorter.done(position)
    return ordered


def version_places(groups: Iterable[Sequence[int]], documents: Mapping[int, Document]) -> Mapping[int, int]:
    """Return the place of each row among the versions of its group; of two equal rows, the first one comes last.

    >>> titles = ("Lease v2", "Lease v10", "Lease v10")
    >>> version_places([[0, 1, 2]], {row: Document("a", "", title) for row, title in enumerate(titles)})
    {0: 0, 2: 1, 1: 2}
    """
    places: dict[int, int] = {}
    for rows in groups:
        row_of = {read_version(documents[row], NO_WORDS): row for row in sorted(rows, reverse=True) if row in documents}
        places |= {row_of[each]: place for place, each in enumerate(sort_versions(list(row_of)))}
    return places


def _keys(documents: Sequence[VersionedDocument]) -> Mapping[int, OrderKey]:
    numbered_runs = sorted((each.date, each.number) for each in documents if each.number and each.date)
    lowest: tuple[int, ...] = ()
    highest = list(accumulate((number for _, number in numbered_runs), max, initial=lowest))
    keys: dict[int, OrderKey] = {}
    for position, document in enumerate(documents):
        if document.date:
            number = document.number or highest[bisect_right(numbered_runs, document.date, key=itemgetter(0))]
            keys[position] = number, document.date, document.stage
    for stage in STAGES:
        earlier = sorted(key for key in keys.values() if key[2] < stage)
        latest = {number: date for number, date, _ in earlier}
        highest_number, last_date, _ = earlier[-1] if earlier else ((), "", stage)
        for position, document in enumerate(documents):
            if document.stage == stage and not document.date:
                number = document.number or highest_number
                keys[position] = number, latest.get(number, "") if document.number else last_date, stage
    return keys


def _cut_circles(keys: Mapping[int, OrderKey], predecessors: Mapping[int, set[int]]) -> Mapping[int, set[int]]:
    """Sort the documents of a cycle of replacements by their keys; documents outside cycles are unchanged.

    A circle is a strongly connected component, found by two walks (Sharir 1981); graphlib finds a circle, and not what
    is on one.
    """
    successors: dict[int, set[int]] = {at: set() for at in predecessors}
    for position, others in predecessors.items():
        for other in others:
            successors[other].add(position)
    visits: set[int] = set()
    ends = [end for start in predecessors for end in _walk(start, predecessors, visits)]
    visits = set()
    circle = {at: end for end in reversed(ends) for at in _walk(end, successors, visits)}
    return {
        at: {other for other in others if circle[at] != circle[other] or (keys[other], other) < (keys[at], at)}
        for at, others in predecessors.items()
    }


def _walk(start: int, edges: Mapping[int, set[int]], visits: set[int]) -> Iterator[int]:
    """Yield the unvisited nodes reachable from a start, each after the nodes reachable from it."""
    path = [(start, iter(edges[start]))] if start not in visits else []
    visits.add(start)
    while path:
        position, others = path[-1]
        other = next((each for each in others if each not in visits), None)
        if other is None:
            path.pop()
            yield position
        else:
            visits.add(other)
            path.append((other, iter(edges[other])))
