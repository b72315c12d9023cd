"""Batches: a stream of documents, cut by count and size; and their outcomes, which add up to the totals of a run.

Format of task messages: checks size, compression, headers and arguments, and refuses foreign messages. It is refused
before Celery acts on it, since foreign headers could ask Celery for a schedule, a time limit or other tasks, and before
it is decompressed without bound: a few foreign bytes must not fill the memory.

Overlap of calls: some run in threads while the next one is prepared; results come in order. A worker signs the next
portion while a server answers for the last one: neither waits for the other.
"""

import json
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import accumulate, groupby
from typing import Any, NamedTuple, TypeVar

import zstandard
from kombu import compression, serialization
from kombu.message import Message

from ibidem_core.errors import REMOVE, DamagedRecord, parse_record
from ibidem_core.settings import Settings
from ibidem_engines.engine import Record
from ibidem_engines.ledger import check_entry, read_entries
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.sign import digest, sign_and_pack

BYTES_A_CHARACTER = 4
MAX_DOCUMENTS = 2_000

SentRecord = Mapping[str, object]  # a document as `Document.as_record` returns it, with its version


class SerializedDocument(NamedTuple):
    id: str
    characters: int  # characters of its text
    json: bytes  # as `Document.as_record` returns it, with its version, in JSON


def batch_key(run: str, number: int) -> str:
    """Return the key of a batch's result.

    >>> batch_key("r", 7)
    'r/00000007'
    """
    return f"{run}/{number:08d}"


class SerializedBatch(NamedTuple):
    """Documents of one message, serialized by a submitter."""

    number: int  # its place in the run, from 0
    documents: Sequence[SerializedDocument]


def cut_records(records: Sequence[SentRecord], characters: int) -> list[Sequence[SentRecord]]:
    """Cut the documents of a message into portions of about so many characters, in order.

    >>> texts = [{"id": str(size), "text": "x" * size} for size in (60, 60, 200, 10)]
    >>> [[record["id"] for record in portion] for portion in cut_records(texts, 100)]
    [['60', '60'], ['200'], ['10']]
    """
    lengths = (len(str(record.get("text", ""))) for record in records)
    starts = accumulate(lengths, initial=0)
    portions = groupby(zip(starts, records, strict=False), lambda each: each[0] // characters)
    return [[record for _, record in portion] for _, portion in portions]


def cut(documents: Iterable[SerializedDocument], characters: int) -> Iterator[SerializedBatch]:
    """Split documents into batches, in order.

    A batch is full with so many characters of text, with four bytes of JSON for each of these, or with 2,000 documents.
    A document that would overfill a batch begins the next one, so a large document is a batch of its own.

    >>> documents = [SerializedDocument(str(size), size, b"{}") for size in (60, 30, 200, 10)]
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
        return self.indexed + self.unchanged + self.stale + len(self.refusals)

    def __add__(self, other: "BatchResult") -> "BatchResult":
        """Return the sum of both; `NO_RESULT` is neutral."""
        return BatchResult(
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
        values = {member.name: getattr(self, member.name) for member in fields(self)}
        return values | {"refusals": refusals_as_json(self.refusals), "languages": dict(self.languages)}

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


def read_tries(entries: Iterable[tuple[str, object]]) -> dict[str, int]:
    """Read by key how often batches and documents were tried; what is damaged counts as none."""
    return {key: found.tries for key, found in read_entries(entries, partial(parse_record, Tries))}


def refusals_as_json(refusals: Iterable[Refusal]) -> list[list[str]]:
    return [[refusal.where, refusal.id, refusal.field, refusal.why] for refusal in refusals]


def read_refusals(record: Mapping[str, object]) -> list[Refusal]:
    """Read a slice of the refusals of a run's reader, as `refusals_as_json` made it."""
    return [parse_record(Refusal, each) for each in _refusal_records(record["refusals"])]


def _refusal_records(lists: object) -> list[dict[str, object]]:
    names = [member.name for member in fields(Refusal)]
    if not (isinstance(lists, list) and all(isinstance(item, list) for item in lists)):
        raise DamagedRecord("refusals stored with the index are damaged: they are not lists", REMOVE)
    return [dict(zip(names, values, strict=False)) for values in lists]


COMPRESSION = "application/zstd"  # kombu's name of zstd, the one compression that submitters use

LEVEL = 1  # level of zstd: half the size, and four times as fast as the next level that is much smaller

MAX_META = 16 << 20  # bytes of a record next to its text

MAX_STRUCTURE = 32 << 20  # bytes of a message outside its strings: `[],` is three bytes there and sixty-four in memory

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def most_of_record(settings: Settings) -> int:
    """Return the maximum size of a record as JSON, in bytes; a character takes up to six."""
    return 6 * settings.max_text + MAX_META


def most_of_message(settings: Settings) -> int:
    """Return the maximum size of a message body in bytes, derived from the maximum size of a record."""
    return 3 * max(most_of_record(settings), 4 * settings.batch_characters) + MAX_META


def too_dense(data: bytes) -> bool:
    """Return whether JSON has so many tokens outside strings that parsing would need many times its size.

    >>> too_dense(b'["a", ["b"]]')
    False
    """
    return len(data) > MAX_STRUCTURE and len(_STRING.sub(b"", data)) > MAX_STRUCTURE


def compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(data: bytes, limit: int) -> bytes:
    """Decompress zstd, up to a maximum size.

    >>> decompress(compress(b"We the People"), 13)
    b'We the People'
    """
    try:
        size = zstandard.frame_content_size(data)
        if size > limit:
            raise ValueError(f"it decompresses to more than {limit:,} bytes")
        if size < 0:
            raise ValueError("it does not say its decompressed size")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)  # and never more than it says
    except zstandard.ZstdError as error:
        raise ValueError(f"its compression is damaged or cut off, or something follows it: {error}") from error


def register_compression(limit: int) -> None:
    """Register our zstd with Kombu, with a maximum size; Kombu's own version needs another library."""
    register: Any = compression.register  # kombu publishes no types for it
    register(compress, lambda data: decompress(data, limit), COMPRESSION, ["zstd"])


def restrict_serializers(limit: int) -> None:
    """Limit which messages this process decompresses and parses: by size, and by format."""
    register: Any = compression.register  # kombu publishes no types for it
    encoders: Any = compression.encoders
    for kind in encoders():
        register(_refuse, _refuse, kind)
    register_compression(limit)
    # Kombu's own parser takes twice as long, and turns objects with certain names into times and decimals.
    read: Any = serialization.register
    read("json", None, json.loads, "application/json")


def _refuse(_: bytes) -> bytes:
    raise ValueError("no submitter compresses messages in this way")


REDELIVERY = "ibidem-again"  # header of a batch that was sent before, and may have been worked on

# Headers that hold a name or a text; any other one of Celery's is empty in a submitter's message.
NAMES = frozenset({"task", "id", "lang", "origin", "root_id", "parent_id", "argsrepr", "kwargsrepr"})

# Values of other headers.
HEADER_TYPES = (
    *(("compression", COMPRESSION), ("timelimit", [None, None])),
    *((name, True) for name in ("ignore_result", "redelivered", REDELIVERY)),
)

FOR_BROKERS = "x-"  # prefix of headers that brokers add and Celery ignores

MAX_NUMBER = 10**12

_RUN = re.compile(r"[\w.:-]{1,100}", re.ASCII)


def check(message: Message, limit: int) -> None:
    """Refuse a foreign message."""
    for name, value in message.headers.items():
        is_other = not value or name.startswith(FOR_BROKERS) or (name, value) in HEADER_TYPES
        if not (value is None or isinstance(value, str) if name in NAMES else is_other):
            raise ValueError(f"unexpected header {name!r}")
    body = message.body.encode() if isinstance(message.body, str) else message.body
    if len(body) > limit:
        raise ValueError(f"it has {len(body):,} bytes, at most {limit:,} are allowed")
    if too_dense(body):
        raise ValueError("it contains far more lists or numbers than any document")
    arguments, keywords, embed = message.payload
    if keywords or any(embed.values()):
        raise ValueError("it has arguments that its task does not take")
    _check_arguments(*arguments)


def _check_arguments(run: object, number: object, records: object) -> None:
    if not isinstance(run, str) or not _RUN.fullmatch(run) or run == "run":  # "run" is the key of the runs themselves
        raise ValueError("it does not name its run")
    if not (isinstance(number, int) and (not isinstance(number, bool)) and (0 <= number <= MAX_NUMBER)):
        raise ValueError("it does not have a number in its run")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("it contains no documents")


Result = TypeVar("Result")

WRITES = 4  # write requests of a process to a cluster at the same time, each with a part of a batch


def overlap(calls: Iterable[Callable[[], Result]], limit: int) -> Iterator[Result]:
    """Run calls, up to `limit` at once, and yield their results in order.

    `calls` is iterated in this thread, at most so many calls ahead. When a call raises, the calls under way end, no
    further one begins, and the error is raised here.

    >>> list(overlap((lambda number=number: number * 2 for number in range(5)), 3))
    [0, 2, 4, 6, 8]
    """
    if limit == 1:
        yield from (call() for call in calls)
        return
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(limit) as threads:
        try:
            for call in calls:
                if len(under_way) == limit:
                    yield under_way.popleft().result()
                under_way.append(threads.submit(copy_context().run, call))
            yield from (each.result() for each in under_way)
        finally:
            for future in under_way:
                future.cancel()


def records(documents: Sequence[Document], tables: Tables, distinct: Sequence[str] = ()) -> Iterator[Record]:
    """Sign documents, a part of a batch at a time, and yield their records."""
    for document, signatures, packed in sign_and_pack(documents, tables, distinct):
        yield Record(document, signatures, document.version or 0, digest(document, signatures.idf), packed)
