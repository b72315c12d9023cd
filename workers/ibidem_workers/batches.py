"""Batches: a stream of documents cut by count and size, the task messages that carry them, and the result of each.

A message has the format that a submitter sends; any other is rejected before Celery acts on it, since foreign headers
could ask Celery for a schedule, a time limit or other tasks. Its size is bounded, compressed and decompressed: a few
foreign bytes must not fill the memory.

A result is the outcome of each document, as stored; those of a run add up to its totals.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeGuard

import orjson
import zstandard
from kombu import compression, serialization
from kombu.message import Message

from ibidem_core.errors import DamagedRecord
from ibidem_core.records import REMOVE, parse_record
from ibidem_core.settings import Settings
from ibidem_ingest.document import WHERE, Document
from ibidem_ingest.errors import Refusal

COMPRESSION = "application/zstd"
"""Kombu's name of zstd, the one compression that submitters use."""

LEVEL = 1
"""Level of zstd: half the size, and four times as fast as the next level that is much smaller."""

MOST_META = 16 << 20
"""Bytes of a record next to its text."""

MOST_STRUCTURE = 32 << 20
"""Bytes of a message outside its strings: `[],` is three bytes there and sixty-four in memory."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def most_of_record(settings: Settings) -> int:
    """Return the most bytes of one record as JSON, in which a character takes six at the most."""
    return 6 * settings.max_text + MOST_META


def most_of_message(settings: Settings) -> int:
    """Return the most bytes of a message's body, in which a character takes up to three times what a record's does."""
    return 3 * max(most_of_record(settings), 4 * settings.batch_characters) + MOST_META


def too_dense(data: bytes) -> bool:
    """Return whether JSON holds so much outside its strings that reading it would take many times its size.

    >>> too_dense(b'["a", ["b"]]')
    False
    """
    return len(data) > MOST_STRUCTURE and len(_STRING.sub(b"", data)) > MOST_STRUCTURE


def compress(data: bytes) -> bytes:
    """Compress a message."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(data: bytes, limit: int) -> bytes:
    """Decompress zstd, at most into so many bytes.

    Raises:
        ValueError: It is larger, is damaged or cut off, or something follows it.

    >>> decompress(compress(b"We the People"), 13)
    b'We the People'
    """
    try:
        size = zstandard.frame_content_size(data)
        if size > limit:
            raise ValueError(f"it unpacks into more than {limit:,} bytes")
        if size < 0:
            raise ValueError("it does not say into how many bytes it unpacks")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)  # and never more than it says
    except zstandard.ZstdError as error:
        raise ValueError(f"its compression is damaged or cut off, or something follows it: {error}") from error


def register_compression(limit: int) -> None:
    """Register our zstd with Kombu, with a limit of size; Kombu's own needs another library."""
    register: Any = compression.register  # kombu publishes no types for it
    register(compress, lambda data: decompress(data, limit), COMPRESSION, ["zstd"])


def restrict_serializers(limit: int) -> None:
    """Let this process decompress and parse messages up to a size, and only in the formats that submitters use."""
    register: Any = compression.register  # kombu publishes no types for it
    encoders: Any = compression.encoders
    for kind in encoders():
        register(_refuse, _refuse, kind)
    register_compression(limit)
    # Kombu's own parser takes twice as long, and turns objects with certain names into times and decimals.
    read: Any = serialization.register
    read("json", None, json.loads, "application/json")


def _refuse(_: bytes) -> bytes:
    raise ValueError("no submitter packs messages in this way")


TRIES = "x-delivery-count"
"""Header with the number of earlier deliveries of a message, named as in RabbitMQ's quorum queues."""

TRIES_BEFORE = "ibidem-tries"
"""The header of a batch that was sent again: how often it had ended its worker by then."""

NAMES = frozenset({"task", "id", "lang", "origin", "root_id", "parent_id", "argsrepr", "kwargsrepr"})
"""Headers that hold a name or a text; any other one of Celery's is empty in a submitter's message."""

FOR_BROKERS = "x-"
"""Prefix of headers that brokers add and Celery ignores."""

MATCH_TASK = "ibidem.match"
"""Task that matches documents for who settles groups; its messages have a queue of their own."""

MOST_TRIES = 1_000_000
MOST_NUMBER = 10**12

_RUN = re.compile(r"[\w.:-]{1,100}", re.ASCII)


def check(message: Message, limit: int) -> None:
    """Refuse a message that no submitter has sent.

    Args:
        message: As the broker handed it out.
        limit: The most bytes of its body.

    Raises:
        ValueError: It was sent by no submitter; says why.
    """
    _check_headers(message.headers)
    body = message.body.encode() if isinstance(message.body, str) else message.body
    if len(body) > limit:
        raise ValueError(f"it has {len(body):,} bytes, at most {limit:,} are taken")
    if too_dense(body):
        raise ValueError("it holds far more lists or numbers than any document")
    arguments, keywords, embed = message.payload
    if keywords or any(embed.values()):
        raise ValueError("it asks for more than its task")
    if message.headers.get("task") == MATCH_TASK:
        _check_request(*arguments)
    else:
        _check_arguments(*arguments)


def _check_headers(headers: Mapping[str, object]) -> None:
    for name, value in headers.items():
        if name in (TRIES, TRIES_BEFORE):
            fine = _is_count(value, MOST_TRIES)
        elif name in NAMES:
            fine = value is None or isinstance(value, str)
        else:
            fine = (
                not value
                or name.startswith(FOR_BROKERS)
                or (name, value) in (("compression", COMPRESSION), ("timelimit", [None, None]), ("ignore_result", True))
            )
        if not fine:
            raise ValueError(f"unexpected header {name!r}")


def _check_arguments(run: object, number: object, records: object, part: object = None) -> None:
    if not isinstance(run, str) or not _RUN.fullmatch(run) or run == "run":  # "run" is the key of the runs themselves
        raise ValueError("it names no run")
    if not _is_count(number, MOST_NUMBER) or not (part is None or _is_count(part, MOST_NUMBER)):
        raise ValueError("it has no number in its run")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("it holds no documents")


def _check_request(request: object = None, *more: object) -> None:
    if not isinstance(request, dict) or more:
        raise ValueError("it holds no request to match documents")


def _is_count(value: object, limit: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limit


BYTES_A_CHARACTER = 4
MOST_DOCUMENTS = 2_000

Record = Mapping[str, object]


class SerializedDocument(NamedTuple):
    """Document in the form of a message.

    Args:
        id: Its id.
        characters: Characters of its text.
        json: As `Document.as_record` returns it, with its version, in JSON.
    """

    id: str
    characters: int
    json: bytes


def serialize(document: Document, version: int, where: str) -> SerializedDocument:
    """Write a document as JSON.

    Args:
        document: The document.
        version: Its version where it names none.
        where: The place it was read from, for refusals.

    Raises:
        TypeError: It holds a value that JSON cannot express.
    """
    record = {"version": version} | document.as_record() | {WHERE: where}
    # One that was made by hand may hold anything, and is checked where it is signed.
    return SerializedDocument(str(document.id), len(str(document.text)), orjson.dumps(record))


def batch_key(run: str, number: int, part: int | None = None) -> str:
    """Return the key under which the result of a batch is noted.

    >>> batch_key("r", 7), batch_key("r", 7, part=2)
    ('r/00000007', 'r/00000007/000002')
    """
    key = f"{run}/{number:08d}"
    return key if part is None else f"{key}/{part:06d}"


@dataclass(frozen=True, slots=True)
class SerializedBatch:
    """Documents of one message, as a submitter sends them.

    Args:
        number: Its place in the run, from 0.
        documents: The documents.
        part: None: it is a whole batch.
    """

    number: int
    documents: Sequence[SerializedDocument]
    part: None = None

    @property
    def body(self) -> list[orjson.Fragment]:
        """The documents as a message takes them."""
        return [orjson.Fragment(document.json) for document in self.documents]

    @property
    def size(self) -> int:
        """About its bytes."""
        return sum(len(document.json) for document in self.documents)


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents of one message, as a worker received them.

    Args:
        number: Its place in the run, from 0.
        records: The documents as `Document.as_record` returns them, each with its version.
        part: Its place in a batch that was sent again as single documents; None for the batch itself.
    """

    number: int
    records: list[Record]
    part: int | None = None

    @property
    def body(self) -> list[Record]:
        """The documents as a message takes them."""
        return self.records

    @property
    def size(self) -> int:
        """About its bytes."""
        return sum(len(str(record.get("text", ""))) for record in self.records)

    def portions(self, characters: int) -> list["Batch"]:
        """Cut the documents into portions of about so many characters of text, in order.

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
        """Return one batch for each document, so that one that ends its worker takes no other with it."""
        return [Batch(self.number, [record], part) for part, record in enumerate(self.records)]


def cut(documents: Iterable[SerializedDocument], characters: int) -> Iterator[SerializedBatch]:
    """Cut documents into batches, in order.

    A batch is full with so many characters of text, with four bytes of JSON for each of these, or with 2,000 documents.
    A document that would overfill a batch begins the next one, so a large document is a batch of its own.

    Args:
        documents: The documents.
        characters: Characters of text in a batch; 150,000 to 600,000 is where the kernels are quickest.

    >>> documents = [serialize(Document(str(size), "x" * size), 1, "") for size in (60, 30, 200, 10)]
    >>> [[document.id for document in batch.documents] for batch in cut(documents, 100)]
    [['60', '30'], ['200'], ['10']]
    """
    contents: list[SerializedDocument] = []
    number = text = size = 0
    for each in documents:
        full = text + each.characters > characters or size + len(each.json) > characters * BYTES_A_CHARACTER
        if contents and (full or len(contents) == MOST_DOCUMENTS):
            yield SerializedBatch(number, contents)
            number, contents, text, size = number + 1, [], 0, 0
        contents.append(each)
        text, size = text + each.characters, size + len(each.json)
    if contents:
        yield SerializedBatch(number, contents)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Sums and refusals of one batch, or of several; indexed + unchanged + stale + refusals = their documents.

    Args:
        indexed: Documents that were written.
        replaced: How many of these replaced another version.
        unchanged: Documents that were in the index already.
        stale: Documents with a newer version, or a newer deletion, in the index.
        unsigned: Documents without words, among the indexed and unchanged ones.
        refusals: Why each refused document was refused.
        parts: Into how many single documents the batch was sent again; their accounts count instead of this one.
        at: When it was made, in seconds since 1970.
        languages: Documents that were signed, by language.
    """

    indexed: int = 0
    unchanged: int = 0
    stale: int = 0
    unsigned: int = 0
    refusals: Sequence[Refusal] = field(default_factory=list)
    parts: int = 0
    replaced: int = 0
    at: float = field(default_factory=time.time)
    languages: Mapping[str, int] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """Number of documents that it accounts for."""
        return self.indexed + self.unchanged + self.stale + len(self.refusals)

    def __add__(self, other: "BatchResult") -> "BatchResult":
        """Return the sum of both; `NO_RESULT` adds nothing."""
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
        """Return the record that `from_json` reads."""
        return {
            "indexed": self.indexed,
            "unchanged": self.unchanged,
            "stale": self.stale,
            "unsigned": self.unsigned,
            "refusals": refusals_as_json(self.refusals),
            "parts": self.parts,
            "replaced": self.replaced,
            "at": self.at,
            "languages": dict(self.languages),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "BatchResult":
        """Read a stored result; `BatchResult.from_json(one.as_json())` equals `one`.

        Raises:
            DamagedRecord: It is no such record.

        >>> one = BatchResult(indexed=2, refusals=[Refusal("a.jsonl:3", "a", "date", "no date")], at=0.0)
        >>> BatchResult.from_json(one.as_json()) == one
        True
        """
        return parse_record(cls, {**record, "refusals": _refusal_records(record.get("refusals"))})


NO_RESULT = BatchResult(at=0.0)


def refusals_as_json(refusals: Iterable[Refusal]) -> list[list[str]]:
    """Return refusals as short lists."""
    return [[refusal.where, refusal.id, refusal.field, refusal.why] for refusal in refusals]


def refusals_from_json(value: object) -> list[Refusal]:
    """Read refusals from the lists of `refusals_as_json`.

    Raises:
        DamagedRecord: It is no such list.
    """
    return [parse_record(Refusal, record) for record in _refusal_records(value)]


def _refusal_records(lists: object) -> list[dict[str, object]]:
    """Turn short lists into records."""
    names = [member.name for member in fields(Refusal)]
    if not _are_lists(lists):
        raise DamagedRecord("refusals next to the index are damaged: they are not lists", REMOVE)
    return [dict(zip(names, values, strict=False)) for values in lists]


def _are_lists(value: object) -> TypeGuard[list[list[object]]]:
    return isinstance(value, list) and all(isinstance(item, list) for item in value)
