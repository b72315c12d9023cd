"""Batches: a stream of documents cut by count and size."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

BYTES_A_CHARACTER = 4
MOST_DOCUMENTS = 2_000

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents that travel in one message.

    Args:
        number: Its place in the run, from 0.
        records: The documents as `Document.as_record` gives them, each with its version.
        part: Its place in a batch that was sent again as single documents; None for the batch itself.
    """

    number: int
    records: list[Record]
    part: int | None = None

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


def cut(records: Iterable[Record], characters: int) -> Iterator[Batch]:
    """Cut records into batches, in order.

    A batch is full with so many characters of text, with four bytes of JSON for each of these, or with 2,000 documents.
    A document that would overfill one begins the next, so a large one travels alone.

    Args:
        records: Documents as records.
        characters: Characters of text in a batch; 150,000 to 600,000 is where the kernels are quickest.

    >>> texts = [{"id": str(size), "text": "x" * size} for size in (60, 30, 200, 10)]
    >>> [[record["id"] for record in batch.records] for batch in cut(texts, 100)]
    [['60', '30'], ['200'], ['10']]
    """
    held: list[Record] = []
    number = text = size = 0
    for record in records:
        its_text, its_size = len(str(record["text"])), weight(record)
        full = text + its_text > characters or size + its_size > characters * BYTES_A_CHARACTER
        if held and (full or len(held) == MOST_DOCUMENTS):
            yield Batch(number, held)
            number, held, text, size = number + 1, [], 0, 0
        held.append(record)
        text, size = text + its_text, size + its_size
    if held:
        yield Batch(number, held)


def weight(record: Record) -> int:
    """Return the bytes of a record in a message."""
    return len(orjson.dumps(record))
