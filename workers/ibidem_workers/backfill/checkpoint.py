"""Checkpoint of a backfill: saved before each batch, so that the same command resumes after a kill.

Batches are sized by the length of documents, so that memory stays bounded.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Literal, TypeVar

from ibidem_core.errors import NoIndex
from ibidem_core.records import parse_record
from ibidem_engines.engine import Engine, ReindexSource, SourceDocument
from ibidem_engines.ledger import read_key
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, ShardRef, parse_marks
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_workers.batches import NO_RESULT, BatchResult

Item = TypeVar("Item")

PAGE = 500  # documents whose names are read at once

FIRST_BATCH = 20  # documents that are read at first, when nothing is known of their length

CHARACTERS = 1_000_000  # characters of text that are read at once where documents are only read


class Portions:
    """Reads documents in portions of about the same number of characters.

    >>> portions = Portions()
    >>> [len(some) for some in portions.cut(range(50))]
    [20, 20, 10]
    >>> portions.learn([50_000, 50_000])
    >>> [len(some) for some in portions.cut(range(50))]
    [20, 20, 10]
    """

    def __init__(self, limit: int = PAGE, characters: int = CHARACTERS) -> None:
        self._size, self._most, self._characters = min(FIRST_BATCH, limit), limit, characters

    def cut(self, names: Sequence[Name]) -> Iterator[Sequence[Name]]:
        """Split names into portions whose size adapts to the previous ones."""
        position = 0
        while position < len(names):
            portion = names[position : position + self._size]
            yield portion
            position += len(portion)

    def learn(self, lengths: Sequence[int]) -> None:
        """Adapt the size to the lengths of the last texts."""
        if lengths:
            self._size = max(1, min(self._most, self._characters * len(lengths) // max(1, sum(lengths))))


def names(source: ReindexSource, seq_range: SeqNoRange) -> Iterator[Name]:
    """Yield the names of the documents of a range, in the order of writing, page by page."""
    while page := source.names(seq_range, PAGE):
        yield from page
        if len(page) < PAGE:
            return
        seq_range = SeqNoRange(seq_range.part, page[-1].order, seq_range.end)


def paginate(names: Iterable[Name]) -> Iterator[list[Name]]:
    """Split names into pages."""
    names = iter(names)
    while page := list(islice(names, PAGE)):
        yield page


def interleave(sources: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """Yield one item from each source in turn, until all are exhausted.

    >>> list(interleave([iter("abc"), iter("x")]))
    ['a', 'x', 'b', 'c']
    """
    queue = deque(sources)
    while queue:
        source = queue.popleft()
        for item in islice(source, 1):
            yield item
            queue.append(source)


def all_writes(end: Marks) -> list[SeqNoRange]:
    """Return for each part the range of all writes up to a sequence number."""
    return [SeqNoRange(part, NONE, last) for part, last in end.items()]


def read_all(source: ReindexSource, end: Marks) -> Iterator[list[SourceDocument]]:
    """Read all documents, in the order of writing within each part."""
    return read_ranges(source, all_writes(end))


def read_ranges(
    source: ReindexSource, seq_ranges: Iterable[SeqNoRange], *, raw: bool = False
) -> Iterator[list[SourceDocument]]:
    """Read the documents of some ranges, in the order of writing within each part."""
    portions = Portions()
    for seq_range in seq_ranges:
        for page in paginate(names(source, seq_range)):
            for portion in portions.cut(page):
                originals = source.read(portion, raw=raw)
                portions.learn([max(len(each.document.text), len(each.raw)) for each in originals])
                yield originals


NONE = 0  # number before the first write of any part


State = Literal["open", "swapped", "followed", "done"]

KEYS = "backfill/"  # before the keys of checkpoints


@dataclass(slots=True)
class OpenPage:
    """A page that was handed out and has no result yet."""

    number: int  # its place in the run
    part: str  # the part that it belongs to, as a key
    after: int  # number of the last write before it
    upto: int  # number of its last write
    documents: int  # how many documents it had

    @property
    def seq_range(self) -> SeqNoRange:
        """Range of sequence numbers of the page's documents."""
        return SeqNoRange(ShardRef.parse(self.part), self.after, self.upto)


@dataclass(slots=True)
class Checkpoint:
    """Progress of a backfill."""

    run: str  # the run's name
    started: float  # when it began, in seconds since 1970
    source: str  # the index that is read
    into: str = ""  # the index that copies go to; empty when signatures are added in place
    schema: str = SCHEMA  # the schema that is signed with
    tables: dict[str, str] = field(default_factory=dict)  # the idf table of each language, as far as they were in use
    done: dict[str, int] = field(default_factory=dict)  # for each part the number of the last write that was handed out
    upto: dict[str, int] = field(default_factory=dict)  # for each part the number up to which this pass goes
    pages: list[OpenPage] = field(default_factory=list)  # pages handed out that are not accounted for
    number: int = 0  # pages handed out
    documents: int = 0  # documents that are accounted for
    deletions: int = 0  # the engine's count of deletions when all had last been carried over to the copy
    # For each part of the copy the number of its last write when it took the first index's place.
    marks: dict[str, int] = field(default_factory=dict)
    alias: str = ""  # the alias that the copy gets; empty for none
    # Whether it goes on, the copy has taken its place, a follower was ended behind the last write, or all is done.
    state: State = "open"
    # How many documents had joined a group when it began, by level.
    joined: dict[str, int] = field(default_factory=dict)
    # The engine's own name of each index behind the source, which an index that is made anew does not keep.
    uuids: dict[str, str] = field(default_factory=dict)
    signed_with: list[str] = field(default_factory=list)  # the settings that determine signatures
    # Sum of the accounts of pages that have none of their own; empty until a follower has looked at all documents once.
    followed: dict[str, object] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return KEYS + self.into

    def seq_range(self, part: ShardRef) -> SeqNoRange:
        """Return the remaining range of a part in this pass."""
        return SeqNoRange(part, self.done.get(str(part), NONE), self.upto.get(str(part), NONE))

    def hand_out(self, seq_range: SeqNoRange, documents: int) -> OpenPage:
        page = OpenPage(self.number, str(seq_range.part), seq_range.after, seq_range.end, documents)
        self.number += 1
        self.done[str(seq_range.part)] = seq_range.end
        self.pages.append(page)
        return page

    def settle(self, number: int, documents: int) -> None:
        """Record the result of a page."""
        self.pages = [page for page in self.pages if page.number != number]
        self.documents += documents

    def keep_indexes(self, uuids: Mapping[str, str]) -> None:
        """Remove the progress of indexes that were deleted, or created again under the same name."""
        kept = {name for name, uuid in self.uuids.items() if uuids.get(name) == uuid}
        self.done = {part: number for part, number in self.done.items() if ShardRef.parse(part).index in kept}
        self.upto = {part: number for part, number in self.upto.items() if ShardRef.parse(part).index in kept}
        self.pages = [page for page in self.pages if page.seq_range.part.index in kept]
        self.uuids = dict(uuids)

    def fold(self, number: int, result: BatchResult) -> None:
        """Record a page without a separate result as complete, and pass its number to the next page."""
        self.settle(number, result.documents)
        self.followed = (BatchResult.from_json(self.followed or NO_RESULT.as_json()) + result).as_json()
        self.number = number

    def signs_alike(self, tables: Tables) -> bool:
        """Return whether schema and idf tables are unchanged; languages added since the start do not matter."""
        now = tables.current()
        return self.schema == SCHEMA and all(now.get(code) == name for code, name in self.tables.items())

    def as_json(self) -> dict[str, object]:
        """Return the stored record, which `from_json` parses."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "Checkpoint":
        """Parse a stored record.

        >>> one = Checkpoint("r", 0.0, "news", pages=[OpenPage(0, "news/0", -1, 7, 8)])
        >>> Checkpoint.from_json(one.as_json()) == one
        True
        """
        checkpoint = parse_record(cls, record)
        parse_marks({**checkpoint.done, **checkpoint.upto, **checkpoint.marks})
        for page in checkpoint.pages:
            ShardRef.parse(page.part)
        return checkpoint


def load_checkpoint(engine: Engine, into: str = "") -> Checkpoint | None:
    """Read the checkpoint of an index; None if there is none, or it cannot be read."""
    try:
        return read_key(engine, "runs", KEYS + into, Checkpoint.from_json)
    except NoIndex:
        return None


class OwnWrites:
    """Sequence numbers of our own writes, as runs without gaps.

    >>> own, part = OwnWrites(), ShardRef("news")
    >>> own.add(part, [7, 5, 6, 9])
    >>> [(gap.after, gap.end) for gap in own.gaps(SeqNoRange(part, 3, 10))]
    [(3, 4), (7, 8), (9, 10)]
    """

    def __init__(self) -> None:
        self._first: defaultdict[ShardRef, list[int]] = defaultdict(list)
        self._last: defaultdict[ShardRef, list[int]] = defaultdict(list)

    def add(self, part: ShardRef, numbers: Iterable[int]) -> None:
        for number in sorted(numbers):
            self._add(self._first[part], self._last[part], number)

    def gaps(self, seq_range: SeqNoRange) -> Iterator[SeqNoRange]:
        """Yield the parts of a range that others wrote."""
        first, last = self._first[seq_range.part], self._last[seq_range.part]
        start = seq_range.after
        for position in range(bisect_left(last, start + 1), len(first)):
            if first[position] > seq_range.end:
                break
            if first[position] - 1 > start:
                yield SeqNoRange(seq_range.part, start, first[position] - 1)
            start = max(start, last[position])
        if start < seq_range.end:
            yield SeqNoRange(seq_range.part, start, seq_range.end)

    @staticmethod
    def _add(first: list[int], last: list[int], number: int) -> None:
        position = bisect_right(first, number)
        if position and last[position - 1] >= number:
            return
        before, behind = (
            position > 0 and last[position - 1] == number - 1,
            position < len(first) and first[position] == number + 1,
        )
        if before and behind:
            last[position - 1] = last.pop(position)
            first.pop(position)
        elif before:
            last[position - 1] = number
        elif behind:
            first[position] = number
        else:
            first.insert(position, number)
            last.insert(position, number)
