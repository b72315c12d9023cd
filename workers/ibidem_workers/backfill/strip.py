"""Strip an index: take out again what a backfill added, in place or into a new index without it.

In place each document is written as its JSON was, but for the object `ibidem`, onto the state that was read: what
another program changes meanwhile is read again. A document that carries nothing is not written, so the same command may
be given again, also after a kill.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ibidem_engines.connect import check_name
from ibidem_engines.engine import Engine, WriteStatus
from ibidem_engines.reindex import Marks, Name, ReindexSource, ReindexTarget, SeqNoRange, Signed, SourceDocument
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_workers.backfill.batch import ROUNDS
from ibidem_workers.backfill.checkpoint import NONE, whole, within
from ibidem_workers.backfill.run import MOST_PASSES, Report, open_for_backfill
from ibidem_workers.settings import Settings

LISTED = 1_000
"""Refusals that are listed; more are counted."""

NOTE = "strip/"
"""Before the key of the record, next to the first index, of a copy that is being filled."""


@dataclass(frozen=True, slots=True)
class StripRequest:
    """Request to remove signatures from an index.

    Args:
        into: Name of the new index; empty to strip in place.
        alias: The alias that it gets in the end; empty for the one that the settings name, where it is one.
        dry: Whether to write nothing.
        records: Whether to remove the records next to the index too.
    """

    into: str = ""
    alias: str = ""
    dry: bool = False
    records: bool = False


@dataclass(slots=True)
class StripResult:
    """Result of a removal.

    Args:
        read: Documents that were read.
        stripped: Those that carried something, which is taken out; in a dry run, would be.
        bytes: What that took, as JSON; in SQLite, the packed signatures.
        refused: Documents that the engine would not take without it.
        refusals: Why, of the first ones.
        left: Documents that are signed now: something went on signing meanwhile.
        pruned: With a new index: documents that were deleted from the first one meanwhile.
        alias: The alias that the new index has now; empty for none.
        fields: Whether empty fields stay in the mapping.
    """

    read: int = 0
    stripped: int = 0
    bytes: int = 0
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    left: int = 0
    pruned: int = 0
    alias: str = ""
    fields: bool = False

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem strip --json` prints."""
        names = ("read", "stripped", "bytes", "refused", "left", "pruned", "alias", "fields")
        return {name: getattr(self, name) for name in names} | {
            "refusals": [one.as_json() for one in self.refusals],
        }

    def count(self, original: SourceDocument, bare: SourceDocument) -> None:
        """Count a document that was read, with it as it is without what ibidem added."""
        self.read += 1
        if carries(original):
            self.stripped += 1
            self.bytes += len(original.raw) - len(bare.raw) if original.raw else len(original.packed)

    def refuse(self, name: Name, why: str) -> None:
        """Count a document that stays as it is."""
        self.refused += 1
        self.stripped -= 1
        if len(self.refusals) < LISTED:
            self.refusals.append(Refusal(f"index {name.index}", name.id, "", why))


def carries(original: SourceDocument) -> bool:
    """Return whether ibidem added anything to a document."""
    return bool(original.ours or original.packed or original.digest)


def strip(request: StripRequest, settings: Settings, report: Report = lambda *_: None) -> StripResult:
    """Take out of an index what ibidem added to it.

    Args:
        request: Where to, and how much.
        settings: The index.
        report: Called with the progress.

    Raises:
        UsageError: The new index is there already; a pipeline would change the documents.
        Unavailable: The engine did not answer; the same command goes on.
    """
    with open_for_backfill(settings) as (engine, source):
        source.check("copy" if request.into else "memory" if request.dry else "strip")
        if request.into and not request.dry:
            check_name(request.into)
            result = StripResult(alias=request.alias or source.alias)
            _Copying(engine, source, source.copy_to(request.into), result, report).through()
        else:
            result = _in_place(engine, source, report, dry=request.dry)
        if request.records and not request.dry:
            source.drop_records()
        return result


def _in_place(engine: Engine, source: ReindexSource, report: Report, *, dry: bool) -> StripResult:
    result = StripResult()
    upto = source.newest()
    documents = sum(map(source.count, whole(upto)))
    for originals in within(source, whole(upto), raw=True):
        for each in originals:
            result.count(each, source.strip_document(each))
        if not dry:
            _write(source, [each for each in originals if carries(each)], result)
        report(result.read, documents)
    if not dry:
        engine.refresh()
        info = engine.info()
        result.left = info.documents - info.unsigned
        if not result.left:
            result.fields = source.unmark()
    return result


def _write(source: ReindexSource, originals: Sequence[SourceDocument], result: StripResult) -> None:
    """Write documents without what ibidem added; those that were changed meanwhile are read again."""
    for _ in range(ROUNDS):
        changed = []
        for there, done in zip(originals, source.strip(originals), strict=True):
            if done is None:
                changed.append(there.name)
            elif done.fate is WriteStatus.REFUSED:
                result.refuse(there.name, done.why)
        if not changed:
            return
        originals = [each for each in source.read(changed, raw=True) if carries(each)]
    for each in originals:
        result.refuse(each.name, "another program changes it again and again; give the same command again")


@dataclass(frozen=True, slots=True)
class _Copying:
    """The way of an index into one without signatures.

    Args:
        engine: The first index, beside which is noted that the copy was begun.
        source: The same.
        copy: The new one.
        result: What came of it so far.
        report: Called with the progress.
    """

    engine: Engine
    source: ReindexSource
    copy: ReindexTarget
    result: StripResult
    report: Report

    def through(self) -> None:
        """Copy, then what was written meanwhile, take the alias, and copy what was on its way."""
        self._begin()
        after = self._fill()
        self.result.pruned = self.copy.prune(self.copy.newest())
        marks = self.copy.newest()
        self.copy.finish(self.result.alias)
        if self.result.alias:
            self._copy(after, self.source.newest(), late=marks)
        self.engine.delete_records("runs", [NOTE + self.copy.name])

    def _begin(self) -> None:
        """Make the new index; one that an earlier command left half filled is filled on."""
        name = self.copy.name
        if name in {part.index for part in self.source.parts()}:
            raise UsageError(f"{name!r} is the index to be stripped", "name a new one with --into")
        if self.result.alias:
            self.copy.check_alias(self.result.alias)
        if not self.copy.exists():
            self.engine.put_records("runs", {NOTE + name: {"into": name}})
            self.copy.create(signed=False)
        elif NOTE + name not in dict(self.engine.get_records("runs", NOTE + name)):
            raise UsageError(f"index {name!r} is there already", "name a new one with --into")

    def _fill(self) -> Marks:
        after: Marks = {}
        for _ in range(MOST_PASSES):
            upto = self.source.newest()
            if not self._copy(after, upto):
                return upto
            after = upto
        return after

    def _copy(self, after: Marks, upto: Marks, late: Marks | None = None) -> int:
        """Copy the documents that come from some writes, without what ibidem added; returns how many there were."""
        stretches = [SeqNoRange(part, after.get(part, NONE), last) for part, last in upto.items()]
        documents = sum(map(self.source.count, stretches))
        expected = self.result.read + documents
        for originals in within(self.source, stretches, raw=True):
            signed: list[Signed] = [(self.source.strip_document(each), None) for each in originals]
            done = self.copy.take(signed) if late is None else self.copy.take_late(signed, late)
            for each, (bare, _), outcome in zip(originals, signed, done, strict=True):
                self.result.count(each, bare)
                if outcome.fate is WriteStatus.REFUSED:
                    self.result.refuse(each.name, outcome.why)
            self.report(self.result.read, expected)
        return documents
