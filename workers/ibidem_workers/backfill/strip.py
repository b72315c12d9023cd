"""Removal of the signatures of a backfill from an index, in place or by copying into a new index.

In place each document is written with its JSON as it was, without the object `ibidem`, on the condition that it has not
changed since it was read; otherwise it is read again. A document without signatures is not written, so the same command
may be given again, also after a kill.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ibidem_core.settings import Settings
from ibidem_engines.connect import check_name
from ibidem_engines.engine import Engine, ReindexSource, ReindexTarget, Signed, SourceDocument, WriteStatus
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, all_writes
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_workers.backfill.batch import NONE, ROUNDS, read_ranges
from ibidem_workers.backfill.run import MAX_PASSES, FieldGuard, Report, check_copy, open_for_backfill

MAX_REFUSALS = 1_000  # refusals that are listed; more are counted

STRIP_PREFIX = "strip/"  # before the key of the record, next to the first index, of a copy that is being filled


@dataclass(slots=True)
class StripResult:
    """Counts of a removal, as `ibidem strip --json` prints them."""

    read: int = 0  # documents that were read
    stripped: int = 0  # documents whose signatures are removed; in a dry run, would be
    bytes: int = 0  # size of these signatures as JSON; in SQLite, of the packed values
    refused: int = 0  # documents that the engine refused to write
    refusals: list[Refusal] = field(default_factory=list)  # refusals of the first of them
    left: int = 0  # documents that are signed afterwards: another program has signed them
    pruned: int = 0  # with a new index: documents that were deleted from the first one during the copy
    alias: str = ""  # the alias that the new index has now; empty for none
    fields: bool = False  # whether empty fields stay in the mapping

    def count(self, original: SourceDocument, bare: SourceDocument) -> None:
        """Count a document that was read; `bare` is the document without signatures."""
        self.read += 1
        if carries(original):
            self.stripped += 1
            self.bytes += len(original.raw) - len(bare.raw) if original.raw else len(original.packed)

    def refuse(self, name: Name, reason: str) -> None:
        """Count a document that keeps its signatures."""
        self.refused += 1
        self.stripped -= 1
        if len(self.refusals) < MAX_REFUSALS:
            self.refusals.append(Refusal(f"index {name.index}", name.id, "", reason))


def carries(original: SourceDocument) -> bool:
    """Return whether a document has signatures."""
    return bool(original.own_fields or original.packed or original.digest)


def strip(
    settings: Settings, report: Report = lambda *_: None, *, into: str = "", dry: bool = False, records: bool = False
) -> StripResult:
    """Remove the signatures from an index, or copy it into a new one without them; with `records`, also the records."""
    with open_for_backfill(settings) as (engine, source):
        if not into and (dropped := source.drop_beside(dry=dry)) is not None:
            result = StripResult(dropped[0], dropped[0], dropped[1])
        else:
            source.check("copy" if into else "memory" if dry else "strip")
            if into and not dry:
                check_name(into)
                result = _strip_into(engine, source, source.copy_to(into), report)
            else:
                result = _strip_in_place(engine, source, report, dry=dry)
        if records and not dry:
            source.drop_records()
        return result


def _strip_in_place(engine: Engine, source: ReindexSource, report: Report, *, dry: bool) -> StripResult:
    result, guard = StripResult(), FieldGuard(source)
    end = source.newest()
    documents = sum(map(source.count, all_writes(end)))
    for originals in read_ranges(source, all_writes(end), raw=True):
        for each in originals:
            result.count(each, source.strip_document(each))
        if not dry:
            guard.note(_write(source, [each for each in originals if carries(each)], result))
        report(result.read, documents)
    if not dry:
        guard.check()
        engine.refresh()
        info = engine.info()
        result.left = info.documents - info.unsigned
        if not result.left:
            source.unmark()
            result.fields = True
    return result


def _write(source: ReindexSource, originals: Sequence[SourceDocument], result: StripResult) -> int:
    """Write documents without signatures; documents that changed since they were read are read again."""
    writes = 0
    for _ in range(ROUNDS):
        stale_names = []
        for original, outcome in zip(originals, source.strip(originals), strict=True):
            if outcome is None:
                stale_names.append(original.name)
            elif outcome.status is WriteStatus.REFUSED:
                result.refuse(original.name, outcome.why)
            else:
                writes += 1
        if not stale_names:
            return writes
        originals = [each for each in source.read(stale_names, raw=True) if carries(each)]
    for each in originals:
        result.refuse(each.name, "another program keeps changing it; run the same command again")
    return writes


def _strip_into(engine: Engine, source: ReindexSource, copy: ReindexTarget, report: Report) -> StripResult:
    """Copy all documents, then documents written meanwhile, move the alias, and copy the last writes."""
    result = StripResult(alias=source.alias)
    _begin(engine, source, copy)

    def take(position: Marks, end: Marks, switch_marks: Marks | None = None) -> int:
        """Copy the documents of some ranges without signatures; returns how many."""
        ranges = [SeqNoRange(part, position.get(part, NONE), last) for part, last in end.items()]
        documents = sum(map(source.count, ranges))
        total = result.read + documents
        for originals in read_ranges(source, ranges, raw=True):
            copies: list[Signed] = [(source.strip_document(each), None) for each in originals]
            outcomes = copy.take(copies) if switch_marks is None else copy.take_late(copies, switch_marks)
            for each, (bare, _), outcome in zip(originals, copies, outcomes, strict=True):
                result.count(each, bare)
                if outcome.status is WriteStatus.REFUSED:
                    result.refuse(each.name, outcome.why)
            report(result.read, total)
        return documents

    position: Marks = {}
    for _ in range(MAX_PASSES):
        begin, position = position, source.newest()
        if not take(begin, position):
            break
    result.pruned = copy.prune(copy.newest())
    marks = copy.newest()
    check_copy(source, copy, position)
    copy.finish(result.alias)
    if result.alias:
        take(position, source.newest(), switch_marks=marks)
    engine.delete_records("runs", [STRIP_PREFIX + copy.index])
    return result


def _begin(engine: Engine, source: ReindexSource, copy: ReindexTarget) -> None:
    """Create the new index, or continue with one that an earlier command left incomplete."""
    key = STRIP_PREFIX + copy.index
    if copy.index in {part.index for part in source.parts()}:
        raise UsageError(f"{copy.index!r} is the index to be stripped", "name a new one with --into")
    if not copy.exists():
        engine.put_records("runs", {key: {"into": copy.index}})
        copy.create(with_fields=False)
    elif key not in dict(engine.get_records("runs", key)):
        raise UsageError(f"index {copy.index!r} already exists", "name a new one with --into")
