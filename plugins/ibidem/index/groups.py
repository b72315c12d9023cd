"""Groups of a whole index, as `ibidem groups` counts them: newly computed, or stored; and a dry run of a backfill.

The documents are taken in the order of date (its start, missing last) and id, and grouped by leads as a window is. Only
what decides is kept of each, and the keys that documents share; 200,000 of them took 640 MB.

Stored groups are counted and listed slice by slice, in constant memory, whatever the index holds.

A dry run signs an index in memory, counts its groups, samples its pairs, and estimates the cost.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from heapq import nsmallest
from time import perf_counter
from typing import Any

import numpy as np

from ibidem.comparison.word_diff import word_diff
from ibidem.index.documents import stored_documents, titles
from ibidem_core.errors import NoIndex, Permanent
from ibidem_core.settings import Settings
from ibidem_dedupe import evidence
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.overrides import DocumentRef, Override, apply_overrides
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, PageKeys, decide
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.engine import Engine, ReindexSource, SourceDocument
from ibidem_engines.ledger import GroupCheckpoint, load_overrides, parse_policy
from ibidem_engines.stored_groups import GroupedDocument, Hit, all_writes, index_places
from ibidem_engines.stored_groups import Name as Place
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.long_text import LongField, LongSignatures
from ibidem_ingest.signatures.packed import LONG, NO_DATE, PackedColumns, unpack
from ibidem_workers.backfill.batch import read_ranges, refusal, signed_records
from ibidem_workers.backfill.run import check_fields, look_through, open_for_backfill
from ibidem_workers.groups.settle import ARRAYS

MAX_LISTED = 10
AT_ONCE = 100  # groups whose documents are held at once
MAX_DOCUMENTS = 200_000  # documents that are looked at, in the order of writing: their signatures take 3 KB each
MAX_SAMPLES = 3  # pairs of each level that are shown
MAX_REFUSALS = 1_000  # refusals that are listed; more are counted
ReadTitles = Callable[[Sequence[DocumentRef]], Mapping[DocumentRef, str]]
ReadLong = Callable[[Sequence[DocumentRef]], Mapping[DocumentRef, bytes]]


@dataclass(frozen=True, slots=True)
class Member:
    lead: str  # id of the group's first document
    index: str  # the document's index
    id: str
    size: int  # documents in the group
    evidence: str  # the signature that joined it to the lead; empty for the lead itself


@dataclass(frozen=True, eq=False, slots=True)
class IndexGroups:
    level: Level  # the weakest level that joined two documents
    names: Sequence[DocumentRef]  # (n) index and id of the documents, in the order in which they were taken
    grouping: Grouping  # group of each document
    unsigned: int  # documents without signatures or without words; each is a group of its own
    # For each look-up field how many of its values were passed over, since too many long texts carry them; parts that
    # share nothing else are missing.
    capped: Mapping[LongField, int]

    @property
    def kinds(self) -> Mapping[str, int]:
        """Number of duplicates joined by each signature, the most frequent first."""
        codes = self.grouping.evidence[self.grouping.evidence > 0]
        return {evidence.TABLE.name(code): count for code, count in Counter(sorted(codes.tolist())).most_common()}

    @property
    def largest(self) -> Sequence[tuple[DocumentRef, int]]:
        """The leads of the largest groups, with the groups' sizes."""
        several = ((-size, lead) for lead, size in self._counts.items() if size > 1)
        return [(self.names[lead], -size) for size, lead in nsmallest(MAX_LISTED, several)]

    @property
    def _counts(self) -> Mapping[int, int]:
        leads, counts = np.unique(self.grouping.lead, return_counts=True)
        return dict(zip(leads.tolist(), counts.tolist(), strict=True))

    def members(self) -> Iterator[Member]:
        """Yield the documents of all groups of two or more, group by group, the lead first."""
        counts = self._counts
        for row in np.argsort(self.grouping.lead, kind="stable").tolist():
            lead = int(self.grouping.lead[row])
            if counts[lead] > 1:
                index, name = self.names[row]
                kind = evidence.TABLE.name(int(self.grouping.evidence[row]))
                yield Member(self.names[lead][1], index, name, counts[lead], kind)

    def as_json(self, titles: ReadTitles) -> dict[str, object]:
        """Return the report as `ibidem groups --json` prints it, with the titles of the largest groups' leads."""
        sizes = Counter(size for size in self._counts.values() if size > 1)
        report = counts_report(self.level, len(self.names), self.unsigned, sizes, self.largest, titles)
        crowded = int(np.count_nonzero(self.grouping.crowded))
        return report | {"crowded": crowded, "kinds": self.kinds, "capped": dict(self.capped)}


def counts_report(  # noqa: PLR0913, PLR0917 - what is counted
    level: Level,
    documents: int,
    unsigned: int,
    sizes: Mapping[int, int],
    largest: Sequence[tuple[DocumentRef, int]],
    titles: ReadTitles,
) -> dict[str, object]:
    """Return the report of groups, without what only their computation tells."""
    shown = titles([name for name, _ in largest])
    duplicates = sum((size - 1) * count for size, count in sizes.items())
    return {
        "level": level,
        "documents": documents,
        "groups": documents - duplicates,
        "duplicates": duplicates,
        "unsigned": unsigned,
        "crowded": 0,
        "sizes": {str(size): count for size, count in sorted(sizes.items())},
        "kinds": {},
        "capped": {},
        "largest": [{"lead": name[1], "title": shown.get(name, ""), "size": size} for name, size in largest],
    }


def index_groups(
    engine: Engine, policy: Policy | None = None, progress: Callable[[int], None] = lambda _: None
) -> IndexGroups:
    words = load_overrides(engine)
    return group_slices(engine.scan(), engine.long_signatures, policy or Policy(), words, progress)


def group_slices(
    slices: Iterable[Sequence[Hit]],
    read_long: ReadLong,
    policy: Policy,
    overrides: Iterable[Override],
    progress: Callable[[int], None],
) -> IndexGroups:
    """Read an index slice by slice, keeping packed values for long texts only, and group its documents."""
    refs: list[DocumentRef] = []
    parts: list[PackedColumns] = []
    keys, packed = PageKeys(), dict[DocumentRef, bytes]()  # of long texts, which matter at `partial` only
    is_related = policy.level == "partial" and policy.related is not None
    for hits in slices:
        names = [hit.name for hit in hits]
        refs += names
        columns = PackedColumns.decode([hit.packed for hit in hits])
        long_rows = np.flatnonzero(columns.flags & LONG).tolist() if is_related else []
        long_values = {names[row]: hits[row].packed or b"" for row in long_rows}
        for name, value in read_long(list(long_values)).items() if long_values else ():
            if (signatures := LongSignatures.decode(value)) is not None:
                keys.add(name, signatures)
                packed[name] = long_values[name]
        # The plain definition, in place of the compiled loops, reads the values themselves.
        parts.append(replace(columns, values=(), ids=[]) if loops.IN_USE else columns)
        progress(len(refs))
    names, columns = sort_documents(refs, parts)
    long_signatures = LongSignatureCache(read_long)
    matcher = LongTextMatcher(names, lambda row: unpack(packed.get(names[row], b"")), policy, long_signatures)
    constraints = apply_overrides(overrides, names, columns).constraints
    grouping = group(columns, policy, constraints, matcher, keys.key_index(names, columns))
    return IndexGroups(policy.level, names, grouping, int(np.count_nonzero(columns.length == 0)), keys.capped_keys)


def sort_documents(
    names: Sequence[DocumentRef], parts: Sequence[PackedColumns]
) -> tuple[list[DocumentRef], PackedColumns]:
    """Sort documents by the start of their dates (documents without one last), index and id."""
    parts = parts or [PackedColumns.decode([])]
    dated = np.concatenate([part.is_signed & (part.date_from != NO_DATE) for part in parts])
    first = np.concatenate([part.date_from for part in parts])
    start = np.where(dated, first, np.iinfo(np.int64).max).tolist()
    order = sorted(range(len(names)), key=lambda row: (start[row], names[row][1], names[row][0]))
    arrays = {each: np.concatenate([getattr(part, each) for part in parts])[order] for each in ARRAYS}
    values = [value for part in parts for value in part.values]
    columns = PackedColumns([values[row] for row in order] if values else (), [""] * len(order), **arrays)
    return [names[row] for row in order], columns


def stored_report(engine: Engine) -> dict[str, object]:
    """Return what `ibidem groups --stored --json` prints, by the names of `ibidem groups`."""
    store = engine.groups()
    store.newest()
    counts = store.counts()
    sizes: Counter[int] = Counter()
    largest: list[tuple[int, str]] = []
    for batch in store.sizes():
        sizes.update(1 + followers for followers in batch.values())
        largest = nsmallest(MAX_LISTED, [*largest, *((-1 - size, group) for group, size in batch.items())])
    names = [group for _, group in largest]
    leads = {each.group: each.name for batch in store.members(names, lead=True) for each in batch} if names else {}
    refs = [((leads[group].index, leads[group].id), -size) for size, group in largest if group in leads]
    return counts_report("near", counts.documents, counts.unsigned, sizes, refs, partial(titles, engine))


def stored_members(engine: Engine) -> Iterator[Member]:
    """Yield the documents of all stored groups of two or more, group by group, the lead first."""
    store, policy = engine.groups(), stored_policy(engine)
    store.newest()
    for sizes in store.sizes(AT_ONCE):
        members: defaultdict[str, list[GroupedDocument]] = defaultdict(list)
        for batch in store.members(list(sizes)):
            for each in batch:
                members[each.group].append(each)
        for name in sizes:
            documents = sorted(members[name], key=lambda each: not each.lead)
            yield from (member(each, documents[0], len(documents), policy) for each in documents)


def stored_policy(engine: Engine) -> Policy:
    return parse_policy(GroupCheckpoint.read(engine).policy)


def member(document: GroupedDocument, lead: GroupedDocument, size: int, policy: Policy) -> Member:
    evidence = ""
    if document is not lead:
        a, b = unpack(document.packed), unpack(lead.packed)
        verdict = decide(a, b, policy) if a is not None and b is not None else None
        evidence = verdict.signature if verdict else "override"
    return Member(lead.name.id, document.name.index, document.name.id, size, evidence)


def read_group(engine: Engine, name: str) -> dict[str, object]:
    """Describe the stored group of a document: its name, lead and size, and why the document joined."""
    store = engine.groups()
    store.newest()
    for document in store.read([(index, name) for index in index_places(store)]):
        lead, count = document, 0
        for batch in store.members([document.group]):
            lead = next((each for each in batch if each.lead), lead)
            count += len(batch)
        found = member(document, lead, count, stored_policy(engine))
        signature = found.evidence if document.name.id != lead.name.id else None
        return {"name": document.group, "lead": lead.name.id, "documents": count, "signature": signature}
    return {}


@dataclass(slots=True)
class _Tally:
    """Counts and signatures of documents that were signed but not written."""

    source: ReindexSource  # the index
    # Routing values by index and id; documents without one are left out.
    routing: dict[DocumentRef, str] = field(default_factory=dict)
    long: dict[DocumentRef, bytes] = field(default_factory=dict)  # long signatures; documents without any are left out
    refused: int = 0  # how many could not be signed
    refusals: list[Refusal] = field(default_factory=list)  # why, of the first ones
    signed: int = 0  # how many were
    added: int = 0  # bytes that this would add to them, before the engine compresses or indexes them
    seconds: float = 0.0  # what reading and signing took

    def hits(
        self, settings: Settings, tables: Tables, documents: Iterable[list[SourceDocument]]
    ) -> Iterator[list[Hit]]:
        """Sign documents, up to a maximum number."""
        began = perf_counter()
        for batch in documents:
            verdicts = [(each, refusal(each, self.source.text_field, settings.max_text)) for each in batch]
            refusals = [why for _, why in verdicts if why]
            self.refused += len(refusals)
            self.refusals = [*self.refusals, *refusals][:MAX_REFUSALS]
            fit = [each for each, why in verdicts if why is None][: MAX_DOCUMENTS - self.signed]
            refs = [(each.name.index, each.name.id) for each in fit]
            self.routing |= {ref: each.name.routing for ref, each in zip(refs, fit, strict=True) if each.name.routing}
            rows = list(zip(refs, signed_records(fit, tables, settings), strict=True))
            self.seconds += perf_counter() - began
            self.signed += len(rows)
            self.added += sum(self.source.added_bytes(record) for _, record in rows)
            self.long |= {ref: record.signatures.long for ref, record in rows if record.signatures.long}
            yield [Hit(*ref, 0.0, record.packed) for ref, record in rows]
            if self.signed == MAX_DOCUMENTS:
                return
            began = perf_counter()

    def cost(self, documents: int, processes: int) -> dict[str, object]:
        """Return the estimated cost of signing all documents: bytes added, and seconds without those of writing."""
        share = documents / max(1, self.signed + self.refused)
        added, size = round(self.added * share), self.source.size()
        seconds = round(self.seconds * share / processes, 3)
        headroom = size + added  # every document is written again, and old versions remain until merged
        return {"bytes": added, "signing_seconds": seconds, "index_bytes": size, "headroom_bytes": headroom}

    def read_long(self, names: Sequence[DocumentRef]) -> dict[DocumentRef, bytes]:
        """Return the long signatures of documents, as an engine does."""
        return {name: self.long[name] for name in names if name in self.long}

    def read(self, names: Sequence[DocumentRef]) -> dict[DocumentRef, Document]:
        places = [Place(index, id_, 0, self.routing.get((index, id_), "")) for index, id_ in names]
        stored = self.source.read(places) if places else []
        return {(each.name.index, each.name.id): each.document for each in stored}


def dry_run(
    settings: Settings, policy: Policy, progress: Callable[[int, int], None] = lambda *_: None
) -> dict[str, Any]:
    """Sign and group an index in memory; returns the output of `ibidem backfill --dry-run --json`."""
    with open_for_backfill(settings) as (engine, source):
        tally = _Tally(source)
        source.check("memory")
        check_fields(source)
        beside = ""
        try:
            source.check("place")
        except (Permanent, UsageError) as error:
            beside = error.what
        end = source.newest()
        documents = sum(map(source.count, all_writes(end)))
        tables = Tables(settings.tables, settings.index)
        passages = look_through(source, tables)
        hits = tally.hits(settings, tables, read_ranges(source, all_writes(end)))
        words: list[Override] = []
        with suppress(NoIndex):
            words += load_overrides(engine)
        most = min(documents, MAX_DOCUMENTS)
        groups = group_slices(hits, tally.read_long, policy, words, lambda count: progress(count, most))
        return {
            **groups.as_json(lambda names: {name: each.title for name, each in tally.read(names).items()}),
            "of": documents,
            "hidden": round((len(groups.names) - len(groups.grouping.leads)) / max(1, len(groups.names)), 4),
            "samples": list(samples(groups, tally)),
            "refused": tally.refused,
            "refusals": [*map(asdict, tally.refusals)],
            "cost": tally.cost(documents, settings.workers),
            "recommended": {"place": "beside" if beside else "in place", "why": beside or "groups over all matches"},
            "passages": [*map(asdict, passages)],
        }


def samples(groups: IndexGroups, tally: _Tally) -> Iterator[dict[str, object]]:
    """Choose pairs of each level, evenly distributed over the index, with their differing words."""
    by_level: defaultdict[Level, list[int]] = defaultdict(list)
    for row, code in enumerate(groups.grouping.evidence.tolist()):
        if code and (level := evidence.TABLE.kinds[code - 1].level):  # a manual decision has no level of its own
            by_level[level].append(row)
    for level, rows in sorted(by_level.items()):
        for row in rows[:: max(1, len(rows) // MAX_SAMPLES)][:MAX_SAMPLES]:
            lead, duplicate = groups.names[int(groups.grouping.lead[row])], groups.names[row]
            documents = tally.read([lead, duplicate])
            if lead in documents and duplicate in documents:
                difference = word_diff(documents[lead].text, documents[duplicate].text)
                pieces = [{"kind": piece.kind, "words": list(piece.words)} for piece in difference]
                yield {"level": level, "lead": lead[1], "duplicate": duplicate[1], "difference": pieces}


def shared_passages(engine: Engine, tables: Tables) -> dict[str, list[dict[str, Any]]]:
    """Return the passages that unlike documents share: those left out of signatures, and those to be left out anew.

    The first documents of the index are looked through.
    """
    names = tables.current().values()
    left_out = {each: None for name in names if (table := tables.named(name)) for each in tables.passages(table)}
    found = tables.look_through(stored_documents(engine))
    return {"left_out": [*map(asdict, left_out)], "found": [*map(asdict, found)]}
