"""Batches: a stream of documents, cut by count and size into task messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from ibidem_ingest.document import WHERE, Document

BYTES_A_CHARACTER = 4
MAX_DOCUMENTS = 2_000

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
    part: None = None  # none: it is a whole batch

    @property
    def body(self) -> list[orjson.Fragment]:
        """The documents as the body of a message."""
        return [orjson.Fragment(document.json) for document in self.documents]

    @property
    def size(self) -> int:
        """Approximate size of the batch in bytes."""
        return sum(len(document.json) for document in self.documents)


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents of one message, received by a worker."""

    number: int  # its place in the run, from 0
    records: list[Record]  # the documents as `Document.as_record` returns them, each with its version
    part: int | None = None  # its place in a batch that was sent again as single documents; None for the batch itself

    @property
    def body(self) -> list[Record]:
        """The documents as the body of a message."""
        return self.records

    @property
    def size(self) -> int:
        """Approximate size of the batch in bytes."""
        return sum(len(str(record.get("text", ""))) for record in self.records)

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
