"""Batches of a backfill: read, sign, write conditionally, count; and its checkpoint, saved before each batch.

The same command resumes after a kill. Batches are sized by the length of documents, so that memory stays bounded.

Survivors: documents in a new index that exist despite a newer tombstone. A copy outlives its tombstone if it was
written later, or its deleter crashed.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Literal, TypeVar

from ibidem_core import logs
from ibidem_core.errors import NoIndex, parse_record
from ibidem_core.settings import Settings
from ibidem_engines import engine as protocol
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Outcome, ReindexSource, ReindexTarget, SourceDocument, WriteStatus
from ibidem_engines.ledger import Tombstone, read_entries, read_key
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, ShardRef, parse_marks
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import unpack
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.signatures.sign import digest
from ibidem_workers.batches import NO_RESULT, WRITES, BatchResult, batch_key, overlap, records
from ibidem_workers.tasks import WorkerContext, Write, attempt, count_outcomes, do_batch, write_portions

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

    def cut(self, names: Iterable[Name]) -> Iterator[list[Name]]:
        """Split names into portions whose size adapts to the previous ones."""
        names = iter(names)
        while portion := list(islice(names, self._size)):
            yield portion

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


def paginate(items: Iterable[Item], size: int = PAGE) -> Iterator[list[Item]]:
    """Split names, or other items, into pages."""
    items = iter(items)
    while page := list(islice(items, size)):
        yield page


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

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "Checkpoint":
        """Parse a stored record, as `asdict` returns it.

        >>> from dataclasses import asdict
        >>> one = Checkpoint("r", 0.0, "news", pages=[OpenPage(0, "news/0", -1, 7, 8)])
        >>> Checkpoint.from_json(asdict(one)) == one
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
    """Sequence numbers of our own writes, as runs without gaps: the first of each run, and the first behind it.

    >>> own, part = OwnWrites(), ShardRef("news")
    >>> own.add(part, [7, 5, 6, 9])
    >>> [(gap.after, gap.end) for gap in own.gaps(SeqNoRange(part, 3, 10))]
    [(3, 4), (7, 8), (9, 10)]
    """

    def __init__(self) -> None:
        self._edges: defaultdict[ShardRef, list[int]] = defaultdict(list)

    def add(self, part: ShardRef, numbers: Iterable[int]) -> None:
        edges = self._edges[part]
        for number in numbers:
            if bisect_right(edges, number) % 2:  # it is in a run already
                continue
            for edge in (number, number + 1):  # what is an edge already joins two runs
                at = bisect_left(edges, edge)
                if at < len(edges) and edges[at] == edge:
                    del edges[at]
                else:
                    edges.insert(at, edge)

    def gaps(self, seq_range: SeqNoRange) -> Iterator[SeqNoRange]:
        """Yield the parts of a range that others wrote."""
        edges, begin, end = self._edges[seq_range.part], seq_range.after + 1, seq_range.end + 1
        if begin >= end:
            return
        first, last = bisect_right(edges, begin), bisect_left(edges, end)
        borders = [*[begin] * (first % 2 == 0), *edges[first:last], *[end] * (last % 2 == 0)]
        for start, stop in zip(borders[::2], borders[1::2], strict=True):
            yield SeqNoRange(seq_range.part, start - 1, stop - 1)


def find_survivors(engine: Engine, tombstones: Mapping[str, Tombstone]) -> set[str]:
    """Return the ids of documents in an index that are no newer than their tombstones."""
    if not tombstones:
        return set()
    engine.refresh()
    documents = engine.fetch([(engine.index, id_) for id_ in tombstones])
    versions = {each.document.id: each.version for each in documents}
    # One without a version was written since by another program.
    return {id_ for id_, version in versions.items() if 0 < version <= tombstones[id_].version}


def delete_by_version(engine: Engine, tombstones: Mapping[str, Tombstone]) -> None:
    ids: defaultdict[int, list[str]] = defaultdict(list)
    for id_, tombstone in tombstones.items():
        ids[tombstone.version].append(id_)
    for version, deleted in ids.items():
        engine.delete(deleted, version)


def delete_late_copies(
    engine: Engine, source: ReindexSource, copies: Sequence[protocol.Signed], outcomes: Sequence[Outcome]
) -> list[Outcome]:
    """Delete late copies of documents that were deleted from the new index; returns them as stale.

    A document without a version was written by another program, whatever tombstones say of earlier ones: it is deleted
    where the first index does not know of the deletion. A copy that was there already is of another process, which may
    have ended before it looked for a tombstone.
    """
    written = {outcome.id for outcome in outcomes if outcome.order}
    documents = [document for document, _ in copies if document.version or document.name.id in written]
    entries = engine.get_records_by_key("tombstones", [document.name.id for document in documents])
    tombstones = dict(read_entries(entries.items(), Tombstone.from_record))
    unversioned = {each.name.id for each in documents if not each.version and each.name.id in tombstones}
    known = {id_: entry for id_, entry in source.get_records("tombstones") if unversioned and id_ in unversioned}
    deleted = {
        id_: tombstones[id_]
        for document in documents
        if (id_ := document.name.id) in tombstones
        and (tombstones[id_].version >= document.version if document.version else known.get(id_) != entries[id_])
    }
    earlier = {id_: tombstone for id_, tombstone in deleted.items() if id_ not in written}
    for id_ in earlier.keys() - find_survivors(engine, earlier):
        del deleted[id_]
    delete_by_version(engine, deleted)
    reasons = {id_: f"it was deleted with version {each.version}" for id_, each in deleted.items()}
    return [
        Outcome(each.id, WriteStatus.STALE, field="version", why=reasons[each.id]) if each.id in reasons else each
        for each in outcomes
    ]


def refusal(original: SourceDocument, text_field: str, max_text: int) -> Refusal | None:
    """Return the refusal of a document that cannot be signed; None if it can."""
    location, text = f"index {original.name.index}", original.document.text
    if original.fault:
        reason = f"{original.fault}; give it a text, or name another field in IBIDEM_FIELDS: text=…"
    elif len(text) > max_text:
        reason = f"{len(text):,} characters, at most {max_text:,} are allowed; raise IBIDEM_MAX_TEXT"
    else:
        return None
    return Refusal(location, original.name.id, text_field, reason)


def is_current(original: SourceDocument, tables: Tables) -> bool:
    """Return whether a document's signatures match its current text, the schema and the idf table."""
    table = tables.of(original.document.language)
    name = table.name if table else ""
    if not original.packed or (original.schema, original.idf) != (SCHEMA, name):
        return False
    return original.digest == digest(original.document, original.idf)


def has_words(original: SourceDocument) -> bool:
    """Return whether a signed document had any words."""
    packed = unpack(original.packed)
    return packed is not None and packed.length > 0


def signed_records(originals: list[SourceDocument], tables: Tables, settings: Settings) -> list[protocol.Record]:
    """Sign documents; each record has the version of its document."""
    batch_records = records([each.document for each in originals], tables, settings.distinct)
    return [replace(record, version=each.version) for each, record in zip(originals, batch_records, strict=True)]


READ_AHEAD = 2  # portions that are read ahead at the same time

# Documents, and characters of text, that are read and written by one request: a fourth of a page, so that parts of one
# are read, signed and written at the same time.
PORTION, PORTION_CHARACTERS = 125, 250_000

ROUNDS = 8  # how often a document is read again when another writer changed it before it could be written


@dataclass(frozen=True, slots=True)
class BackfillBatch:
    """Documents of an index that are signed together."""

    run: str  # the run that they belong to
    number: int  # the page's place in it, from 0
    names: Sequence[Name]  # the documents
    before: int = 0  # how many documents of the page were written, and not accounted for, before a run was broken off
    # Whether the page was handed out before. A request that was under way when its process was killed may end while the
    # page is signed again: its documents are signed, but by another write than the one that was handed out, and count
    # as indexed.
    is_resumed: bool = False
    # Once a copy has taken the index's place: for each part of the copy its last write before.
    switch_marks: Marks | None = None
    changes_only: bool = False  # whether to leave documents that are signed already out of the count
    # Whether the checkpoint keeps its account, so that a follower's ledger does not grow with every write. An account
    # with refusals is a record of its own all the same.
    folds: bool = False

    def needs_record(self, result: BatchResult) -> bool:
        """Return whether the result of the batch is stored as a separate record."""
        return not self.folds or bool(result.refusals)


@dataclass(frozen=True, slots=True)
class BackfillContext(WorkerContext):
    """What signs pages; the engine is the index that is written to."""

    source: ReindexSource = field(kw_only=True)  # the index that is read
    copy: ReindexTarget | None = None  # the index that copies go to; None when signatures are added in place
    # Determines how many documents are read together.
    portions: Portions = field(default_factory=lambda: Portions(PORTION, PORTION_CHARACTERS))
    own: list[int] = field(default_factory=list)  # numbers of the writes to the page in hand


# The result of a page, and the numbers of our writes in the index that was read; none if its documents were copied.
BatchOutcome = tuple[BatchResult, Sequence[int]]

Originals = Callable[[], Sequence[SourceDocument]]  # returns the documents of a portion that was read ahead

# What became of documents, and those that another writer has changed since they were read.
Written = tuple[BatchResult, Sequence[Name]]


def sign_batch(context: BackfillContext, page: BackfillBatch, deaths: int = 0) -> BatchOutcome:
    """Sign a page that processes have ended with so often, and store its result in the ledger."""
    context.own.clear()
    page = replace(page, is_resumed=page.is_resumed or deaths > 0)
    key, sign = batch_key(page.run, page.number), partial(_sign, context, page)
    account = do_batch(context, key, page.names, deaths, sign, _refuse, CRASHED)
    account += BatchResult(indexed=page.before)
    if page.changes_only:
        account = replace(account, unchanged=0, stale=0)
    if page.needs_record(account):
        context.retry(lambda: context.engine.put_records("runs", {key: account.as_json()}))
    return account, list(context.own)


def _sign(context: BackfillContext, page: BackfillBatch, some: Sequence[Name]) -> BatchResult:
    """Sign documents of a page, overlapping reads and writes."""
    at_once = WRITES if context.engine.parallel_writes else 1

    def read(portion: Sequence[Name]) -> tuple[Sequence[Name], Originals]:
        return portion, attempt(partial(_read, context, portion))

    def sign(portion: Sequence[Name], originals: Originals | None = None) -> Write:
        write = _prepare(context, page, portion, originals() if originals else _read(context, portion))

        def write_until_stable() -> BatchResult:
            """Write documents; those that changed since they were read are read and signed again."""
            account, stale = write()
            for _ in range(ROUNDS - 1):
                if stale:
                    written, stale = _prepare(context, page, stale, _read(context, stale))()
                    account += written
            return account + BatchResult(refusals=[_refuse(name, UNSTABLE) for name in stale])

        return write_until_stable

    reads = overlap((partial(read, each) for each in context.portions.cut(some)), min(READ_AHEAD, at_once))
    signing = ((portion, partial(sign, portion, originals)) for portion, originals in reads)
    return write_portions(signing, sign, _refuse, at_once)


def _read(context: BackfillContext, portion: Sequence[Name]) -> list[SourceDocument]:
    raw = context.copy is not None or not context.source.updates_in_part
    originals = context.retry(lambda: context.source.read(portion, raw=raw))
    context.portions.learn([len(each.document.text) for each in originals])
    return originals


def _prepare(
    context: BackfillContext, page: BackfillBatch, portion: Sequence[Name], originals: Sequence[SourceDocument]
) -> Callable[[], Written]:
    """Sign documents that were read; returns the call that writes them."""
    verdicts = [(each, refusal(each, context.source.text_field, context.settings.max_text)) for each in originals]
    documents = [each for each, why in verdicts if why is None]
    account = BatchResult(refusals=[why for _, why in verdicts if why], stale=len(portion) - len(originals))
    if context.copy is None:
        return _sign_in_place(context, page, documents, account)
    signed = [*zip(documents, signed_records(documents, context.tables, context.settings), strict=True)]
    # Those that cannot be signed are copied without signatures.
    copies: list[protocol.Signed] = [*signed, *((each, None) for each, why in verdicts if why is not None)]
    copy, switch_marks = context.copy, page.switch_marks

    def write() -> Written:
        if switch_marks is None:
            outcomes = context.retry(lambda: copy.take(copies))
        else:
            written = context.retry(lambda: copy.take_late(copies, switch_marks))
            outcomes = context.retry(lambda: delete_late_copies(context.engine, context.source, copies, written))
        return account + _count(signed, outcomes[: len(signed)]), []

    return write


def _sign_in_place(
    context: BackfillContext, page: BackfillBatch, originals: Sequence[SourceDocument], account: BatchResult
) -> Callable[[], Written]:
    """Sign documents without current signatures; returns the call that adds the signatures."""
    verdicts = [(each, is_current(each, context.tables)) for each in originals]
    skips = [each for each, is_signed in verdicts if is_signed]
    targets = [each for each, is_signed in verdicts if not is_signed]
    pairs = list(zip(targets, signed_records(targets, context.tables, context.settings), strict=True))

    def write() -> Written:
        outcomes = context.retry(lambda: context.source.sign(pairs)) if pairs else []
        context.own.extend(outcome.order for outcome in outcomes if outcome is not None and outcome.order)
        own_count = sum(each.order != each.name.order for each in skips) if page.is_resumed else 0
        unchanged, unsigned = len(skips) - own_count, sum(not has_words(each) for each in skips)
        skipped = BatchResult(indexed=own_count, unchanged=unchanged, unsigned=unsigned)
        stale = [each.name for each, outcome in zip(targets, outcomes, strict=True) if outcome is None]
        return account + skipped + _count(pairs, outcomes), stale

    return write


def _count(signed: Sequence[tuple[SourceDocument, protocol.Record]], outcomes: Sequence[Outcome | None]) -> BatchResult:
    """Count what became of documents; those that others have changed meanwhile have no outcome."""
    pairs = zip(signed, outcomes, strict=True)
    return count_outcomes((f"index {each.name.index}", record, by) for (each, record), by in pairs if by)


CRASHED = "it crashed the process that signed it; check the document, or leave it out"
UNSTABLE = "other writers keep changing it; try again"


def _refuse(name: Name, reason: str) -> Refusal:
    return Refusal(f"index {name.index}", name.id, "", reason)


def open_signing(
    settings: Settings, source_name: str, into: str, beside: protocol.Beside, has_ended: Callable[[], bool]
) -> Callable[[BackfillBatch, int], BatchOutcome]:
    """Open indexes and idf tables in an executor; returns what signs a page."""
    logs.set_up(settings)
    source = open_engine(settings.address, source_name).reindex_source(beside)
    engine, copy = open_engine(settings.address, into or source_name), source.copy_to(into) if into else None
    tables = Tables(settings.tables, settings.index)
    return partial(sign_batch, BackfillContext(engine, tables, settings, has_ended, source=source, copy=copy))
