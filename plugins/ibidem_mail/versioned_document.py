"""A document prepared for versions: its declarations, its names, its date, and a sample of its words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import xxhash

from ibidem_dedupe.word_runs import NO_WORDS, Hashes, hash_words, runs, text_batches
from ibidem_ingest.dates import utc
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import is_mail
from ibidem_mail.version_marks import Stage, read_identifier, read_name, read_number

SAMPLE = 256  # runs of words that are kept of a text: those with the smallest hashes

HEADING = 120  # characters of a first line that may be a heading

WORK = frozenset(("work", "workid"))
VERSION_OF = frozenset(("isversionof", "versionof"))
REPLACES = frozenset(("replaces", "supersedes"))
REPLACED_BY = frozenset(("isreplacedby", "replacedby", "supersededby"))
NUMBER = frozenset(("versionnumber", "documentversion", "docversion", "revision", "edition", "version"))
IDENTIFIER = frozenset(("identifier", "doi", "eli", "celex", "ecli", "isbn"))

ADDRESSES = frozenset(("identifier", "url"))  # kinds of names whose years and numbers name the work


@dataclass(frozen=True, eq=False, slots=True)
class VersionedDocument:
    """A document prepared for versions."""

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
            read = _read(document, hashes[start:end])
            if read.declares or not is_mail(document.meta):
                yield read


def read_marks(document: Document) -> VersionedDocument:
    """Read the version marks of a document's metadata; its text is not read."""
    return _read(document, NO_WORDS)


def _read(document: Document, words: Hashes) -> VersionedDocument:
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
    "works": WORK | VERSION_OF,
    "replaces": REPLACES,
    "replaced_by": REPLACED_BY,
    "number": NUMBER,
    "identifier": IDENTIFIER,
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
    found = {
        "identifier": identifiers[0] if identifiers else "",
        "title": document.title,
        "url": document.url.split("://", 1)[-1].partition("#")[0],
        "file": file if _FILE.search(file) else "",
        "heading": "" if document.title else _heading(document.text),
    }
    return {kind: text for kind, text in found.items() if text}


def _heading(text: str) -> str:
    """Return the first line with words, if it is short."""
    start = text[: 10 * HEADING].lstrip(" \t\r\n\f#*_=-[")
    line = start.split("\n", 1)[0].strip()
    return line if len(line) <= HEADING else ""
