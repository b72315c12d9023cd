"""Batches: a stream of documents, cut by count and size; and their outcomes, which add up to the totals of a run."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple, TypeGuard

import orjson

from ibidem_core.errors import DamagedRecord
from ibidem_core.records import REMOVE, parse_record
from ibidem_engines.ledger import check_entry
from ibidem_ingest.document import WHERE, Document
from ibidem_ingest.errors import Refusal

BYTES_A_CHARACTER = 4
MAX_DOCUMENTS = 2_000

FEW, SHORT = 50, 500_000  # documents, and the characters of their texts, that are signed sooner than a process starts

Record = Mapping[str, object]


class SerializedDocument(NamedTuple):
    """Document serialized for a message."""

    id: str
    characters: int  # characters of its text
    json: bytes  # as `Document.as_record` returns it, with its version, in JSON


def serialize(document: Document, version: int, location: str) -> SerializedDocument:
    """Serialize a document as JSON."""
    record = {"version": version} | document.as_record() | {WHERE: location}
    # A document built by hand may contain anything; it is checked when it is signed.
    return SerializedDocument(str(document.id), len(str(document.text)), orjson.dumps(record))


def batch_key(run: str, number: int, part: int | None = None) -> str:
    """Return the key of a batch's result.

    >>> batch_key("r", 7), batch_key("r", 7, part=2)
    ('r/00000007', 'r/00000007/000002')
    """
    key = f"{run}/{number:08d}"
    return key if part is None else f"{key}/{part:06d}"


@dataclass(frozen=True, slots=True)
class SerializedBatch:
    """Documents of one message, serialized by a submitter."""

    number: int  # its place in the run, from 0
    documents: Sequence[SerializedDocument]

    @property
    def is_small(self) -> bool:
        """Whether it is signed sooner than a process starts."""
        return len(self.documents) <= FEW and sum(each.characters for each in self.documents) <= SHORT

    @property
    def body(self) -> list[orjson.Fragment]:
        """The documents as the body of a message."""
        return [orjson.Fragment(document.json) for document in self.documents]


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents of one message, received by a worker."""

    number: int  # its place in the run, from 0
    records: list[Record]  # the documents as `Document.as_record` returns them, each with its version
    part: int | None = None  # its place in a batch that is done document by document; None for the batch itself

    def portions(self, characters: int) -> list["Batch"]:
        """Split the documents into portions of a number of characters, in order.

        >>> texts = [{"id": str(size), "text": "x" * size} for size in (60, 60, 200, 10)]
        >>> [[record["id"] for record in part.records] for part in Batch(0, texts).portions(100)]
        [['60', '60'], ['200'], ['10']]
        """
        portions: list[list[Record]] = []
        text = characters
        for record in self.records:
            if text >= characters:
                portions.append([])
                text = 0
            portions[-1].append(record)
            text += len(str(record.get("text", "")))
        return [Batch(self.number, portion, self.part) for portion in portions]

    def singles(self) -> list["Batch"]:
        """Return one batch for each document, so that a document that kills its worker affects no other."""
        return [Batch(self.number, [record], part) for part, record in enumerate(self.records)]


def cut(documents: Iterable[SerializedDocument], characters: int) -> Iterator[SerializedBatch]:
    """Split documents into batches, in order.

    A batch is full with so many characters of text, with four bytes of JSON for each of these, or with 2,000 documents.
    A document that would overfill a batch begins the next one, so a large document is a batch of its own.

    >>> documents = [serialize(Document(str(size), "x" * size), 1, "") for size in (60, 30, 200, 10)]
    >>> [[document.id for document in batch.documents] for batch in cut(documents, 100)]
    [['60', '30'], ['200'], ['10']]
    """
    contents: list[SerializedDocument] = []
    number = text = size = 0
    for each in documents:
        full = text + each.characters > characters or size + len(each.json) > characters * BYTES_A_CHARACTER
        if contents and (full or len(contents) == MAX_DOCUMENTS):
            yield SerializedBatch(number, contents)
            number, contents, text, size = number + 1, [], 0, 0
        contents.append(each)
        text, size = text + each.characters, size + len(each.json)
    if contents:
        yield SerializedBatch(number, contents)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Totals and refusals of one or several batches; indexed + unchanged + stale + refusals = their documents."""

    indexed: int = 0  # documents that were written
    unchanged: int = 0  # documents that were in the index already
    stale: int = 0  # documents with a newer version, or a newer deletion, in the index
    unsigned: int = 0  # documents without words, among the indexed and unchanged ones
    refusals: Sequence[Refusal] = field(default_factory=list)  # why each refused document was refused
    replaced: int = 0  # how many of these replaced another version
    at: float = field(default_factory=time.time)  # when it was made, in seconds since 1970
    languages: Mapping[str, int] = field(default_factory=dict)  # documents that were signed, by language

    @property
    def documents(self) -> int:
        """Number of documents in the result."""
        return self.indexed + self.unchanged + self.stale + len(self.refusals)

    def __add__(self, other: "BatchResult") -> "BatchResult":
        """Return the sum of both; `NO_RESULT` is neutral."""
        return replace(
            self,
            indexed=self.indexed + other.indexed,
            unchanged=self.unchanged + other.unchanged,
            stale=self.stale + other.stale,
            unsigned=self.unsigned + other.unsigned,
            replaced=self.replaced + other.replaced,
            refusals=[*self.refusals, *other.refusals],
            at=max(self.at, other.at),
            languages=Counter(self.languages) + Counter(other.languages),
        )

    def as_json(self) -> dict[str, object]:
        """Return the stored record, which `from_json` parses."""
        return {
            "indexed": self.indexed,
            "unchanged": self.unchanged,
            "stale": self.stale,
            "unsigned": self.unsigned,
            "refusals": refusals_as_json(self.refusals),
            "replaced": self.replaced,
            "at": self.at,
            "languages": dict(self.languages),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "BatchResult":
        """Parse a stored result; `BatchResult.from_json(one.as_json())` equals `one`.

        >>> one = BatchResult(indexed=2, refusals=[Refusal("a.jsonl:3", "a", "date", "no date")], at=0.0)
        >>> BatchResult.from_json(one.as_json()) == one
        True
        """
        return parse_record(cls, {**record, "refusals": _refusal_records(record.get("refusals"))})


NO_RESULT = BatchResult(at=0.0)


def read_account(entry: object) -> BatchResult:
    """Read the result of a batch; if damaged, the batch counts as done, and its documents stay pending."""
    try:
        return check_entry(entry, BatchResult.from_json)
    except DamagedRecord:
        return NO_RESULT


TRIES = "/tries"  # suffix of the key of a batch, and of a single document of one


@dataclass(frozen=True, slots=True)
class Tries:
    """How often a batch was tried and its worker ended, or a single document was begun."""

    tries: int

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "Tries":
        """Parse a stored record."""
        return parse_record(cls, record)


def refusals_as_json(refusals: Iterable[Refusal]) -> list[list[str]]:
    """Return refusals as short lists."""
    return [[refusal.where, refusal.id, refusal.field, refusal.why] for refusal in refusals]


def refusals_from_json(value: object) -> list[Refusal]:
    """Parse refusals from the lists of `refusals_as_json`."""
    return [parse_record(Refusal, record) for record in _refusal_records(value)]


def _refusal_records(lists: object) -> list[dict[str, object]]:
    """Convert short lists into records."""
    names = [member.name for member in fields(Refusal)]
    if not _are_lists(lists):
        raise DamagedRecord("refusals stored with the index are damaged: they are not lists", REMOVE)
    return [dict(zip(names, values, strict=False)) for values in lists]


def _are_lists(value: object) -> TypeGuard[list[list[object]]]:
    return isinstance(value, list) and all(isinstance(item, list) for item in value)
