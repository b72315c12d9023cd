"""Groups of a whole index, as `ibidem groups` counts them: newly computed, or stored.

The documents are taken in the order of date (its start, missing last) and id, and grouped by leads as a window is. Only
what decides is kept of each, and the keys that documents share; 200,000 of them took 640 MB.

Stored groups are counted and listed slice by slice, in constant memory, whatever the index holds.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from ibidem.index.documents import titles
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import KeyIndex
from ibidem_dedupe.decision import decide
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.long_candidates import PageKeys
from ibidem_dedupe.overrides import DocumentRef, Override, apply_overrides
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import GroupCheckpoint, parse_policy
from ibidem_engines.ledger import load_overrides
from ibidem_engines.stored_groups import GroupedDocument, Hit, StoredGroups
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.long_text import LongClue, LongSignatures
from ibidem_ingest.signatures.packed import LONG, NO_DATE, unpack
from ibidem_ingest.signatures.packed_columns import PackedColumns

MAX_LISTED = 10
ReadLong = Callable[[Sequence[DocumentRef]], Mapping[DocumentRef, bytes]]
ARRAYS = [each.name for each in fields(PackedColumns) if each.name not in ("values", "ids")]  # the columns themselves


@dataclass(frozen=True, slots=True)
class Member:
    """A document in its group."""

    lead: str  # id of the group's first document
    index: str  # the document's index
    id: str
    size: int  # documents in the group
    evidence: str  # the signature that joined it to the lead; empty for the lead itself


@dataclass(frozen=True, eq=False, slots=True)
class IndexGroups:
    """The groups of a whole index."""

    level: Level  # the weakest level that joined two documents
    names: Sequence[DocumentRef]  # (n) index and id of the documents, in the order in which they were taken
    grouping: Grouping  # group of each document
    unsigned: int  # documents without signatures or without words; each is a group of its own
    # For each class of clues how many of its values were passed over, since too many long texts carry them; parts that
    # share nothing else are missing.
    capped: Mapping[LongClue, int]

    @property
    def sizes(self) -> Mapping[int, int]:
        """Number of groups by size."""
        return dict(sorted(Counter(size for size in self._counts.values() if size > 1).items()))

    @property
    def kinds(self) -> Mapping[str, int]:
        """Number of duplicates joined by each signature, the most frequent first."""
        codes, counts = np.unique(self.grouping.evidence[self.grouping.evidence > 0], return_counts=True)
        by_kind = {
            evidence.TABLE.name(code): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }
        return dict(sorted(by_kind.items(), key=lambda each: -each[1]))

    @property
    def largest(self) -> Sequence[tuple[DocumentRef, int]]:
        """The leads of the largest groups, with the groups' sizes."""
        several = ((lead, size) for lead, size in self._counts.items() if size > 1)
        first = sorted(several, key=lambda each: (-each[1], each[0]))[:MAX_LISTED]
        return [(self.names[lead], size) for lead, size in first]

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

    def as_json(self, titles: Mapping[DocumentRef, str] | None = None) -> dict[str, object]:
        """Return the report as `ibidem groups --json` prints it."""
        groups = len(self.grouping.leads)
        return {
            "level": self.level,
            "documents": len(self.names),
            "groups": groups,
            "duplicates": len(self.names) - groups,
            "unsigned": self.unsigned,
            "crowded": int(np.count_nonzero(self.grouping.crowded)),
            "sizes": {str(size): count for size, count in self.sizes.items()},
            "kinds": dict(self.kinds),
            "capped": dict(self.capped),
            "largest": [
                {"lead": name[1], "title": (titles or {}).get(name, ""), "size": size} for name, size in self.largest
            ],
        }


def index_groups(
    engine: Engine,
    policy: Policy | None = None,
    overrides: Iterable[Override] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> IndexGroups:
    """Group all documents of an index."""
    shelf = LongTextIndex(engine.long_signatures, policy or Policy())
    words = load_overrides(engine) if overrides is None else overrides
    return group_slices(engine.scan(), shelf, words, progress)


@dataclass(slots=True)
class LongTextIndex:
    """The long texts of an index: their clues, and their packed values."""

    read: ReadLong  # reads the long signatures of documents by index and id
    policy: Policy  # the decision for a pair; long texts matter at `partial` only
    keys: PageKeys = field(default_factory=PageKeys)  # their clues
    packed: dict[DocumentRef, bytes] = field(default_factory=dict)  # their packed values

    def add(self, hits: Sequence[Hit], flags: NDArray[np.uint8]) -> None:
        """Add the long texts of a slice."""
        if self.policy.level != "partial" or self.policy.related is None:
            return
        long_hits = {(hit.index, hit.id): hit for hit, bits in zip(hits, flags.tolist(), strict=True) if bits & LONG}
        for name, value in self.read(list(long_hits)).items() if long_hits else ():
            if (signatures := LongSignatures.decode(value)) is not None:
                self.keys.add(name, signatures)
                self.packed[name] = long_hits[name].packed or b""

    def build_matcher(self, names: Sequence[DocumentRef]) -> tuple[LongTextMatcher, KeyIndex]:
        """Return the matcher of long texts, and their candidate pairs."""
        long_signatures = LongSignatureCache(self.read)
        matcher = LongTextMatcher(
            names, lambda row: unpack(self.packed.get(names[row], b"")), self.policy, long_signatures
        )
        return matcher, self.keys.key_index(names)


def group_slices(
    slices: Iterable[Sequence[Hit]],
    long_texts: LongTextIndex,
    overrides: Iterable[Override],
    progress: Callable[[int], None],
) -> IndexGroups:
    """Group documents slice by slice."""
    names, columns = sort_documents(*read_slices(slices, progress, long_texts))
    matcher, suspected = long_texts.build_matcher(names)
    policy = long_texts.policy
    grouping = group(columns, policy, apply_overrides(overrides, names, columns).constraints, matcher, suspected)
    return IndexGroups(
        policy.level, names, grouping, int(np.count_nonzero(columns.length == 0)), long_texts.keys.capped_keys
    )


def read_slices(
    slices: Iterable[Sequence[Hit]], progress: Callable[[int], None], long_texts: LongTextIndex
) -> tuple[list[DocumentRef], list[PackedColumns]]:
    """Read an index slice by slice; packed values are kept for long texts, and where they are read one by one."""
    names: list[DocumentRef] = []
    parts: list[PackedColumns] = []
    for hits in slices:
        names += [(hit.index, hit.id) for hit in hits]
        columns = PackedColumns.decode([hit.packed for hit in hits])
        long_texts.add(hits, columns.flags)
        # The plain definition, in place of the compiled loops, reads the values themselves.
        parts.append(replace(columns, values=(), ids=[]) if loops.IN_USE else columns)
        progress(len(names))
    return names, parts


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


AT_ONCE = 100  # groups whose documents are held at once


@dataclass(frozen=True, slots=True)
class StoredReport:
    """The stored groups of an index."""

    engine: Engine  # the index

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem groups --stored --json` prints, by the names of `ibidem groups`."""
        store = self.engine.groups()
        store.newest()
        counts = store.counts()
        sizes: Counter[int] = Counter()
        largest: list[tuple[int, str]] = []
        for batch in store.sizes():
            sizes.update(1 + followers for followers in batch.values())
            largest = nsmallest(MAX_LISTED, [*largest, *((-1 - size, group) for group, size in batch.items())])
        duplicates = sum((size - 1) * count for size, count in sizes.items())
        return {
            "level": "near",
            "documents": counts.documents,
            "groups": counts.documents - duplicates,
            "duplicates": duplicates,
            "unsigned": counts.unsigned,
            "crowded": 0,
            "sizes": {str(size): count for size, count in sorted(sizes.items())},
            "kinds": {},
            "capped": {},
            "largest": self._largest(store, {group: -size for size, group in largest}),
        }

    def _largest(self, store: StoredGroups, sizes: Mapping[str, int]) -> list[dict[str, object]]:
        """Return the leads of some groups, the largest group first."""
        leads = {each.group: each for batch in store.members(list(sizes), lead=True) for each in batch} if sizes else {}
        by_name = titles(self.engine, [(each.name.index, each.name.id) for each in leads.values()])
        return [
            {"lead": lead.name.id, "title": by_name.get((lead.name.index, lead.name.id), ""), "size": size}
            for group, size in sizes.items()
            if (lead := leads.get(group)) is not None
        ]

    def members(self) -> Iterator[Member]:
        """Yield the documents of all groups of two or more, group by group, the lead first."""
        store, policy = self.engine.groups(), stored_policy(self.engine)
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
    """Return the policy of an index's stored groups."""
    return parse_policy(GroupCheckpoint.read(engine).policy)


def member(document: GroupedDocument, lead: GroupedDocument, size: int, policy: Policy) -> Member:
    """Describe a document in its group."""
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
    for document in store.read([(part.index, name) for part in {part.index: part for part in store.parts()}.values()]):
        lead, count = document, 0
        for batch in store.members([document.group]):
            lead = next((each for each in batch if each.lead), lead)
            count += len(batch)
        evidence = (
            member(document, lead, count, stored_policy(engine)).evidence if document.name.id != lead.name.id else None
        )
        return {"name": document.group, "lead": lead.name.id, "documents": count, "signature": evidence}
    return {}
