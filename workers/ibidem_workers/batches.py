"""Batches: a stream of documents cut by count and size."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

BYTES_A_CHARACTER = 4
MOST_DOCUMENTS = 2_000

Record = Mapping[str, object]


class Serialized(NamedTuple):
    """A document as it travels.

    Args:
        record: As `Document.as_record` gives it, with its version.
        json: The same in JSON, written once for all that needs it.
    """

    record: Record
    json: bytes


def serialize(record: Record) -> Serialized:
    """Write a record as JSON.

    Raises:
        TypeError: It holds what JSON has no place for.
    """
    return Serialized(record, orjson.dumps(record))


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents that travel in one message.

    Args:
        number: Its place in the run, from 0.
        records: The documents as `Document.as_record` gives them, each with its version.
        part: Its place in a batch that was sent again as single documents; None for the batch itself.
        json: The documents in JSON, where they were written already; empty where not.
    """

    number: int
    records: list[Record]
    part: int | None = None
    json: list[bytes] = field(default_factory=list)

    @property
    def body(self) -> list[Record] | list[orjson.Fragment]:
        """The documents as a message takes them."""
        return [orjson.Fragment(each) for each in self.json] or self.records

    def key(self, run: str) -> str:
        """Return the key under which its account is noted.

        >>> Batch(7, []).key("r"), Batch(7, [], part=2).key("r")
        ('r/00000007', 'r/00000007/000002')
        """
        whole = f"{run}/{self.number:08d}"
        return whole if self.part is None else f"{whole}/{self.part:06d}"

    def singles(self) -> list["Batch"]:
        """Return one batch for each document, so that one that ends its worker takes no other with it."""
        return [Batch(self.number, [record], part) for part, record in enumerate(self.records)]


def cut(records: Iterable[Serialized], characters: int) -> Iterator[Batch]:
    """Cut records into batches, in order.

    A batch is full with so many characters of text, with four bytes of JSON for each of these, or with 2,000 documents.
    A document that would overfill one begins the next, so a large one travels alone.

    Args:
        records: The documents.
        characters: Characters of text in a batch; 150,000 to 600,000 is where the kernels are quickest.

    >>> texts = [{"id": str(size), "text": "x" * size} for size in (60, 30, 200, 10)]
    >>> [[record["id"] for record in batch.records] for batch in cut(map(serialize, texts), 100)]
    [['60', '30'], ['200'], ['10']]
    """
    held: list[Serialized] = []
    number = text = size = 0
    for each in records:
        its_text, its_size = len(str(each.record["text"])), len(each.json)
        full = text + its_text > characters or size + its_size > characters * BYTES_A_CHARACTER
        if held and (full or len(held) == MOST_DOCUMENTS):
            yield _batch(number, held)
            number, held, text, size = number + 1, [], 0, 0
        held.append(each)
        text, size = text + its_text, size + its_size
    if held:
        yield _batch(number, held)


def _batch(number: int, documents: list[Serialized]) -> Batch:
    return Batch(number, [each.record for each in documents], json=[each.json for each in documents])
