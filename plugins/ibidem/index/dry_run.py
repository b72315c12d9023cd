"""Dry run of a backfill: signs an index in memory, counts its groups, samples its pairs, estimates the cost."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from ibidem.comparison.word_diff import Piece, word_diff
from ibidem.index.groups import IndexGroups, LongTextIndex, group_slices
from ibidem_core.errors import EngineError, NoIndex
from ibidem_core.settings import Settings
from ibidem_dedupe import evidence
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.engine import ReindexSource, SourceDocument
from ibidem_engines.ledger import load_overrides
from ibidem_engines.stored_groups import Hit
from ibidem_engines.stored_groups import Name as Place
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import refusal, signed_records
from ibidem_workers.backfill.checkpoint import all_writes, read_all
from ibidem_workers.backfill.run import check_fields, open_for_backfill
from ibidem_workers.backfill.trial import Rates, measure_rates
from ibidem_workers.ingest import Interruption

MAX_DOCUMENTS = 200_000  # documents that are looked at, in the order of writing: their signatures take 3 KB each

SAMPLES = 3  # pairs of each level that are shown

LISTED = 1_000  # refusals that are listed; more are counted


@dataclass(frozen=True, slots=True)
class Sample:
    """A pair of documents that a level would join."""

    level: Level  # `identical` or `near`
    lead: DocumentRef  # index and id of the group's lead
    duplicate: DocumentRef  # index and id of its duplicate
    difference: Sequence[Piece]  # where their words differ; nothing when none do

    def as_json(self) -> dict[str, object]:
        """Return the pair as shown by `ibidem backfill --dry-run --json`."""
        pieces = [{"kind": piece.kind, "words": list(piece.words)} for piece in self.difference]
        return {"level": self.level, "lead": self.lead[1], "duplicate": self.duplicate[1], "difference": pieces}


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated cost of signing the index, from the documents read and a trial."""

    bytes: int  # that signatures add to all documents, before the engine compresses or indexes them
    signing: float  # seconds to read and to sign all, with as many processes as there are workers, without writing
    index: int  # bytes of the index now
    seconds: float | None  # of the whole `ibidem backfill`, with writing and settling; None if that could not be tried
    tried: int  # how many documents were written and settled in the trial
    untried: str = ""  # why there was no trial; empty if there was one

    @property
    def headroom(self) -> int:
        """Bytes to keep free: every document is written again, and old versions remain until merged."""
        return self.index + self.bytes

    def as_json(self) -> dict[str, object]:
        """Return the cost as shown by `ibidem backfill --dry-run --json`."""
        return {
            "bytes": self.bytes,
            "seconds": None if self.seconds is None else round(self.seconds, 3),
            "tried": self.tried,
            "untried": self.untried,
            "signing_seconds": round(self.signing, 3),
            "index_bytes": self.index,
            "headroom_bytes": self.headroom,
        }


@dataclass(slots=True)
class DryRun:
    """The result of a dry run."""

    groups: IndexGroups  # the groups of the documents that were looked at
    documents: int  # how many documents the index has
    titles: Mapping[DocumentRef, str]  # titles of the leads of the largest groups
    samples: Sequence[Sample]  # pairs to be read
    refused: int  # documents without a text that could be signed
    refusals: Sequence[Refusal]  # why, of the first ones
    cost: Cost  # what signing would take

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem backfill --dry-run --json`, which extends that of `ibidem groups`."""
        looked_at = len(self.groups.names)
        share = (looked_at - len(self.groups.grouping.leads)) / looked_at if looked_at else 0.0
        return {
            **self.groups.as_json(self.titles),
            "of": self.documents,
            "hidden": round(share, 4),
            "samples": [entry.as_json() for entry in self.samples],
            "refused": self.refused,
            "refusals": [entry.as_json() for entry in self.refusals],
            "cost": self.cost.as_json(),
        }


@dataclass(slots=True)
class _Tally:
    """Counts and signatures of documents that were signed but not written."""

    # Routing values by index and id; documents without one are left out.
    routing: dict[DocumentRef, str] = field(default_factory=dict)
    long: dict[DocumentRef, bytes] = field(default_factory=dict)  # long signatures; documents without any are left out
    refused: int = 0  # how many could not be signed
    refusals: list[Refusal] = field(default_factory=list)  # why
    signed: int = 0  # how many were
    added: int = 0  # bytes that this would add to them
    seconds: float = 0.0  # what reading and signing took

    def hits(
        self, source: ReindexSource, settings: Settings, documents: Iterator[list[SourceDocument]]
    ) -> Iterator[list[Hit]]:
        """Sign documents, up to a maximum number."""
        tables, budget = Tables(settings.tables), MAX_DOCUMENTS
        began = perf_counter()
        for batch in documents:
            fit = [each for each in batch if self._fits(each, source.text_field, settings.max_text)][:budget]
            self.routing |= {(each.name.index, each.name.id): each.name.routing for each in fit if each.name.routing}
            records = signed_records(fit, tables, settings)
            self.seconds += perf_counter() - began
            self.signed += len(records)
            self.added += sum(map(source.added_bytes, records))
            self.long |= {
                (each.name.index, each.name.id): record.signatures.long
                for each, record in zip(fit, records, strict=True)
                if record.signatures.long
            }
            yield [
                Hit(each.name.index, each.name.id, 0.0, record.packed)
                for each, record in zip(fit, records, strict=True)
            ]
            budget -= len(fit)
            if not budget:
                return
            began = perf_counter()

    def cost(self, documents: int, index: int, processes: int, trial: Rates | str) -> Cost:
        """Estimate the cost for the whole index."""
        share = documents / max(1, self.signed + self.refused)
        added, signing = round(self.added * share), self.seconds * share / processes
        if isinstance(trial, str):
            return Cost(added, signing, index, None, 0, trial)
        return Cost(added, signing, index, trial.seconds(documents), trial.documents)

    def read_long(self, names: Sequence[DocumentRef]) -> dict[DocumentRef, bytes]:
        """Return the long signatures of documents, as an engine does."""
        return {name: self.long[name] for name in names if name in self.long}

    def places(self, names: Sequence[DocumentRef]) -> list[Place]:
        """Return the positions of documents."""
        return [Place(index, id_, 0, self.routing.get((index, id_), "")) for index, id_ in names]

    def _fits(self, document: SourceDocument, text_field: str, max_text: int) -> bool:
        reason = refusal(document, text_field, max_text)
        if reason is not None:
            self.refused += 1
            self.refusals += [reason] if len(self.refusals) < LISTED else []
        return reason is None


def try_backfill(source: ReindexSource, settings: Settings, names: Sequence[Place]) -> Rates | str:
    """Measure the cost of a backfill, or return why it cannot be measured, such as missing rights."""
    if not names:
        return "there is no document to measure it with"
    try:
        return measure_rates(source, settings, names)
    except Interruption as error:
        raise KeyboardInterrupt from error
    except (EngineError, UsageError) as error:
        return error.what


def dry_run(settings: Settings, policy: Policy, progress: Callable[[int, int], None] = lambda *_: None) -> DryRun:
    """Sign and group an index in memory; a sample is signed into a temporary index to measure the time."""
    tally = _Tally()
    with open_for_backfill(settings) as (engine, source):
        source.check("memory")
        check_fields(source)
        end = source.newest()
        documents = sum(map(source.count, all_writes(end)))
        hits = tally.hits(source, settings, read_all(source, end))
        try:
            words = load_overrides(engine)
        except NoIndex:
            words = []
        shelf = LongTextIndex(tally.read_long, policy)
        groups = group_slices(hits, shelf, words, lambda count: progress(count, min(documents, MAX_DOCUMENTS)))
        leads = {(each.name.index, each.name.id): each for each in _read(source, tally, [n for n, _ in groups.largest])}
        titles = {name: each.document.title for name, each in leads.items()}
        trial = try_backfill(source, settings, tally.places(groups.names))
        cost = tally.cost(documents, source.size(), settings.workers, trial)
        return DryRun(groups, documents, titles, samples(groups, source, tally), tally.refused, tally.refusals, cost)


def samples(groups: IndexGroups, source: ReindexSource, tally: _Tally) -> list[Sample]:
    """Choose pairs of each level, evenly distributed over the index, with their differing words."""
    lots = []
    for level, rows in _split_by_level(groups).items():
        for row in rows[:: max(1, len(rows) // SAMPLES)][:SAMPLES]:
            lead, duplicate = groups.names[int(groups.grouping.lead[row])], groups.names[row]
            texts = {
                (each.name.index, each.name.id): each.document.text for each in _read(source, tally, [lead, duplicate])
            }
            if lead in texts and duplicate in texts:
                lots.append(Sample(level, lead, duplicate, word_diff(texts[lead], texts[duplicate])))
    return lots


def _split_by_level(groups: IndexGroups) -> Mapping[Level, list[int]]:
    """Split the duplicates by the level of their evidence."""
    rows: defaultdict[Level, list[int]] = defaultdict(list)
    for row, code in enumerate(groups.grouping.evidence.tolist()):
        level = evidence.TABLE.kinds[code - 1].level if code else None  # a manual decision has no level of its own
        if level is not None:
            rows[level].append(row)
    return dict(sorted(rows.items()))


def _read(source: ReindexSource, tally: _Tally, names: Sequence[DocumentRef]) -> list[SourceDocument]:
    return source.read(tally.places(names)) if names else []
