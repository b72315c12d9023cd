"""Settling of one portion: leads, joins, and new groups for the followers of rewritten leads.

Documents are settled in blocks against unchanging leads, by the rules of a window, in the order of writing. Each joins
the first lead that it duplicates, or becomes a lead; it is compared with leads alone, so there are no chains. Leads
before the block come first, in the order of their writes. So any cut into blocks gives the same groups as one pass over
all documents. Manual decisions on pairs are followed, unless one of the texts has changed since.

Joins of very many new documents are computed from columns of all leads of the index. A row takes some 700 bytes of
columns, and about 150 for its id and its group. Columns beyond a limit are files that are mapped into memory; the
groups are the same.

Settling all documents again: each one is compared, and only changes are written. All documents are taken in the order
of writing, followers and leads alike. A lead that stays one keeps its group's name. A process that is killed has
written a part; the next one reads what is there and writes the rest.
"""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from itertools import compress, islice
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, SupportsInt

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from ibidem_core.errors import Permanent
from ibidem_dedupe import evidence
from ibidem_dedupe.column_rules import Rows
from ibidem_dedupe.leader_clustering import Grouping, first_copies, group
from ibidem_dedupe.overrides import DocumentRef, Overrides, PairConstraints, apply_overrides
from ibidem_dedupe.pairs import PairClassifier
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines import stored_groups
from ibidem_engines.stored_groups import (
    Assignment,
    GroupedDocument,
    LeadKeys,
    Marks,
    SeqNoRange,
    StoredGroups,
    all_writes,
)
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.lookup_keys import LookupField, content_key, lookup_keys
from ibidem_ingest.signatures.packed import Packed, PackedColumns, unpack


@dataclass(frozen=True, slots=True)
class Row:
    name: DocumentRef  # its index and id
    order: int  # number of the write that it comes from
    value: bytes  # its packed signatures; empty when it was never signed


@dataclass(frozen=True, slots=True)
class Join:
    """The assignment of a document to a lead."""

    name: DocumentRef  # index and id of the document
    lead: DocumentRef  # index and id of the lead
    level: Level  # at which level the two are duplicates


class Rules:
    """The rules of settling, the same for look-ups and for columns: a policy, and manual decisions."""

    def __init__(self, policy: Policy, overrides: Overrides) -> None:
        self.policy = replace(policy, indexed=True)  # which counts only pairs with a key that an index stores
        self.overrides = overrides

    def joins(self, leads: Sequence[Row], rows: Sequence[Row]) -> list[Join]:
        """Return the joins of a block; all its other documents become leads."""
        names = [row.name for row in (*leads, *rows)]
        columns, constraints = self._columns([*leads, *rows])
        grouping = group(columns, self.policy, constraints, leads=len(leads))
        return [
            Join(names[row], names[int(grouping.lead[row])], self.level(grouping.evidence[row]))
            for row in np.flatnonzero(grouping.lead != np.arange(len(names))).tolist()
        ]

    def level(self, code: SupportsInt) -> Level:
        """Return the level of the evidence that joined a row; for a manual decision the requested level."""
        return evidence.TABLE.level(int(code), self.policy)

    def originals(self, leads: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
        """Return the rows that are not copies of a lead or of an earlier row, to look up leads for."""
        columns, constraints = self._columns([*leads, *rows])
        first = first_copies(columns, self.policy, len(leads), constraints)[len(leads) :]
        return [rows[at] for at in np.flatnonzero(first == len(leads) + np.arange(len(rows))).tolist()]

    def duplicates(self, lead: Row, rows: Sequence[Row]) -> list[bool]:
        columns, constraints = self._columns([lead, *rows])
        pairs = np.arange(1, len(rows) + 1) * (len(rows) + 1)
        found, _ = PairClassifier(columns, self.policy, constraints).decide(pairs)
        return [bool(each) for each in np.isin(pairs, found)]

    def _columns(self, rows: Sequence[Row]) -> tuple[PackedColumns, PairConstraints]:
        columns = PackedColumns.decode([row.value for row in rows])
        return columns, self.constraints([row.name for row in rows], columns)

    def constraints(self, names: Iterable[DocumentRef], columns: PackedColumns) -> PairConstraints:
        """Return the valid manual decisions, on pairs of rows."""
        return apply_overrides(self.overrides.words, names, columns).constraints


def make_row(document: GroupedDocument) -> Row:
    return Row(ref(document), document.name.order, document.packed)


def ref(document: GroupedDocument) -> DocumentRef:
    """Return index and id of a document."""
    return document.name.index, document.name.id


def near_keys(packed: Packed, policy: Policy, keys: Mapping[LookupField, list[str]]) -> LeadKeys:
    """Return those of a document's look-up keys that find near duplicates."""
    policy = policy.candidates
    kinds = {kind.lookup: kind for kind in evidence.TABLE.counted(policy) if kind.lookup and kind.level == "near"}
    keys = evidence.searched(keys, policy)
    values = {name: keys[name] for name in kinds if name in keys}
    counts = {name: kind.several(policy) for name, kind in kinds.items() if kind.several and name in values}
    ratios = {name: count.lengths or 1e-9 for name, count in counts.items()}
    most = 2**31 - 1
    return LeadKeys(
        values,
        {name: count.min_shared for name, count in counts.items()},
        {name: (ceil(packed.length * each), min(floor(packed.length / each), most)) for name, each in ratios.items()},
    )


ROUNDS = 5  # how often a portion is settled again when a lead that a document would join has disappeared

Documents = Mapping[DocumentRef, GroupedDocument]  # by index and id
Followers = Mapping[str, list[GroupedDocument]]  # by the name of their group

# Called with the documents that are about to be written, before any of them is.
Plan = Callable[[Sequence[DocumentRef]], None]

# Returns the joins of documents in the order of writing, where leads are settled up to the marks; others lead.
Match = Callable[[Sequence[Row], Marks], Sequence[Join]]


class LeadChanged(Exception):
    """Another process changed a lead that a document was about to join."""


class Settler:
    """Settles portions of one index, by some rules."""

    def __init__(self, store: StoredGroups, rules: Rules) -> None:
        self.store, self.rules = store, rules
        # Documents that changed groups since the last refresh; searches may still show them as leads of the old ones.
        self.recent_changes = set[DocumentRef]()
        self._places = stored_groups.index_places(store)

    def settle(
        self, portion: Sequence[GroupedDocument], marks: Marks, plan: Plan, match: Match | None = None
    ) -> Counter[str]:
        """Settle a portion; returns how many of its documents joined a lead, by level."""
        for turn in range(ROUNDS - 1):
            try:
                return self._settle(portion, plan, match if match and not turn else self.look_up, marks)
            except LeadChanged:
                self.refresh()
        return self._settle(portion, plan, self.look_up, marks)

    def refresh(self) -> None:
        """Make writes visible to searches."""
        self.store.newest()
        self.recent_changes.clear()

    def _settle(self, portion: Sequence[GroupedDocument], plan: Plan, match: Match, marks: Marks) -> Counter[str]:
        followers = self._followers(portion)
        displaced = self._displaced_leads(portion, followers)
        displaced_names = {ref(each) for each in displaced}
        documents = {ref(each): each for each in portion if ref(each) not in displaced_names}
        joins = match([make_row(each) for each in documents.values()], marks)
        changes = [*start_groups(displaced), *self._successions(joins, documents, followers)]
        groups = self._groups(joins, documents)
        plan([*(ref(each.document) for each in changes), *(join.name for join in joins)])
        is_whole = not changes or all(self.store.assign(changes))
        self.recent_changes |= {ref(each.document) for each in changes}
        joiners = [Assignment(documents[join.name], groups[join.lead], lead=False) for join in joins]
        outcomes = self.store.assign(joiners) if joiners else []
        written = [join for join, is_written in zip(joins, outcomes, strict=True) if is_written]
        self.recent_changes |= {join.name for join in written}
        if len(written) < len(joins):
            written += self._find_written(set(joins) - set(written), groups)
        if not is_whole:  # only now: a lead that has joined another is none of its group
            self._mend({group for each in changes for group in (each.document.group, each.group)})
        return Counter(join.level for join in written)

    def look_up(self, rows: Sequence[Row], marks: Marks) -> list[Join]:
        """Return the joins of a block, including joins among its rows; all other rows become leads."""
        leads = self._sort(self._find(rows, marks, copies=True))  # copies need no further look-up
        rest = self.rules.originals(leads, rows)
        known = {lead.name: lead for lead in [*leads, *self._find(rest, marks, copies=False)]}
        return self.rules.joins(self._sort(known.values()), rows)

    def _sort(self, leads: Iterable[Row]) -> list[Row]:
        return sorted(leads, key=lambda row: (self._rank(row.name[0], row.order), row.name))

    def _find(self, rows: Sequence[Row], marks: Marks, *, copies: bool) -> list[Row]:
        """Look up leads settled up to the marks, without leads that have joined a group meanwhile."""
        lookups = [each for each in self._lookups(rows, copies=copies) if each.values]
        hits = self.store.with_value(lookups, marks) if lookups and any(marks.values()) else []
        leads = {(hit.index, hit.id): Row((hit.index, hit.id), hit.order, hit.packed or b"") for hit in hits}
        row_names = {row.name for row in rows}
        unread = self.rules.overrides.partners(row_names) - leads.keys()
        others = self.store.read(sorted(unread), marks) if unread else ()
        leads |= {ref(each): make_row(each) for each in others if each.lead}
        return [row for name, row in leads.items() if name not in self.recent_changes and name not in row_names]

    def _lookups(self, rows: Sequence[Row], *, copies: bool) -> list[LeadKeys]:
        """Return the look-up keys of each document with words."""
        read = [(packed, row.value) for row in rows if (packed := unpack(row.value)) is not None and packed.length]
        if copies:
            return [LeadKeys({"content": [content_key(packed)]}) for packed, _ in read]
        keys = lookup_keys([value for _, value in read])
        return [near_keys(packed, self.rules.policy, each) for (packed, _), each in zip(read, keys, strict=True)]

    def _mend(self, groups: Collection[str]) -> None:
        """Give a lead to groups of which only a part was written because other documents had changed."""
        for _ in range(ROUNDS):
            self.refresh()
            if promote_in(self.store, sorted(groups)):
                return
        raise LeadChanged

    def _find_written(self, joins: Collection[Join], groups: Mapping[DocumentRef, str]) -> list[Join]:
        """Find joins that were written although the answer was lost and the request was repeated."""
        self.refresh()
        documents = self.store.read([join.name for join in joins])
        followers = {ref(each): each.group for each in documents if not each.lead}
        return [join for join in joins if followers.get(join.name) == groups[join.lead]]

    def _followers(self, portion: Sequence[GroupedDocument]) -> Followers:
        """Read the followers of some documents; only rewritten leads have followers."""
        followers: defaultdict[str, list[GroupedDocument]] = defaultdict(list)
        names = [ref(each) for each in portion]
        for members in self.store.members([each.group for each in portion if each.group], names):
            for each in members:
                if ref(each) not in self.recent_changes:
                    followers[each.group].append(each)
        return followers

    def _displaced_leads(self, portion: Sequence[GroupedDocument], followers: Followers) -> list[GroupedDocument]:
        """Return the documents whose group has an earlier lead, such as the same id in another index."""
        lead_groups: set[str] = set()
        displaced = []
        for each in portion:
            rank = self._rank(each.name.index, each.name.order)
            leads = (other.name for other in followers.get(each.group, ()) if other.lead)
            is_later = any(self._rank(lead.index, lead.order) < rank for lead in leads)
            if each.group in lead_groups or not each.group or is_later:
                displaced.append(each)
            lead_groups.add(each.group)
        return displaced

    def _rank(self, index: str, order: int) -> tuple[int, int]:
        return self._places.get(index, len(self._places)), order

    def _groups(self, joins: Sequence[Join], documents: Documents) -> Mapping[DocumentRef, str]:
        groups = {name: each.group for name, each in documents.items()}
        names = sorted({join.lead for join in joins} - groups.keys())
        leads = {ref(each): each for each in self.store.read(names)} if names else {}
        for name in names:
            if name not in leads or not leads[name].lead:
                raise LeadChanged
            groups[name] = leads[name].group
        return groups

    def _successions(self, joins: Sequence[Join], documents: Documents, followers: Followers) -> list[Assignment]:
        """Return new assignments for the followers of rewritten leads.

        Where the lead joins another lead, its first follower leads the group under the same name. Where it stays a
        lead, followers that do not duplicate it leave, and the name stays with the larger part. New leads and their
        followers are settled again.
        """
        joiners = {join.name for join in joins}
        changes: list[Assignment] = []
        for name, lead in documents.items():
            members = [each for each in followers.get(lead.group, ()) if not each.lead]
            if not members:
                continue
            if name in joiners:
                changes.append(Assignment(members[0], lead.group, lead=True))
                continue
            stays = self.rules.duplicates(make_row(lead), [make_row(each) for each in members])
            leavers = [each for each, is_stayer in zip(members, stays, strict=True) if not is_stayer]
            changes += split_group(lead, [*compress(members, stays)], leavers)
        return changes


def split_group(
    lead: GroupedDocument, members: Sequence[GroupedDocument], leavers: Sequence[GroupedDocument]
) -> list[Assignment]:
    """Split a group; the larger part keeps the name."""
    if len(leavers) <= len(members) + 1:
        return start_groups(leavers)
    (start,) = start_groups([lead])
    followers = [Assignment(each, start.group, lead=False) for each in members]
    return [Assignment(leavers[0], lead.group, lead=True), start, *followers]


def start_groups(documents: Iterable[GroupedDocument]) -> list[Assignment]:
    """Assign each document to a new group."""
    return [Assignment(each, stored_groups.new_group(), lead=True) for each in documents]


def promote(store: StoredGroups) -> bool:
    """Promote a member in each group that has lost its lead; returns whether all were written."""
    is_done = True
    store.newest()
    for sizes in store.sizes():
        is_done &= promote_in(store, list(sizes))
    return is_done


def promote_in(store: StoredGroups, groups: Sequence[str]) -> bool:
    """Promote a member in each of some groups that has lost its lead; returns whether all were written."""
    led = {each.group for members in store.members(groups, lead=True) for each in members}
    firsts = [members[0] for group in groups if group not in led for members in islice(store.members([group]), 1)]
    return not firsts or all(store.assign([Assignment(each, each.group, lead=True) for each in firsts]))


EMPTY = PackedColumns.decode([])
ARRAYS = [each.name for each in fields(PackedColumns) if each.name not in ("values", "ids")]  # the columns themselves

# Bytes of a row in all columns.
ROW_BYTES = sum(array.itemsize * int(np.prod(array.shape[1:])) for array in (getattr(EMPTY, name) for name in ARRAYS))

NO_GROUP = xxh3_64_intdigest(b"")  # hash of the group of a document that has none

MAX_BYTES = 1 << 30  # bytes of columns that are held in memory


class StoredColumns(ExitStack):
    """Columns of the documents of an index, in order of addition, in temporary files."""

    def __init__(self, capacity: int, max_bytes: int = MAX_BYTES) -> None:
        super().__init__()
        # Index and id of rows, in a third of the memory of pairs of strings.
        self._indices, self._ids = list[str](), list[str]()
        self.orders = np.zeros(capacity, np.int64)
        self.groups = np.zeros(capacity, np.uint64)
        self.leads = np.zeros(capacity, bool)
        self._values: list[bytes | None] = []  # as long as the plain definition reads them, without compiled loops
        try:
            is_mapped = capacity * ROW_BYTES > max_bytes
            folder = Path(self.enter_context(TemporaryDirectory(prefix="ibidem-"))) if is_mapped else None
            self._arrays = {name: _make_array(name, capacity, folder) for name in ARRAYS}
        except OSError as error:
            self.close()
            raise Permanent(
                f"no room for the columns of settling in the folder of temporary files: {error}",
                "free space there, or name another folder in TMPDIR",
            ) from error

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, slices: Iterable[Sequence[GroupedDocument]], heartbeat: Callable[[], None]) -> None:
        """Add documents; documents that no longer fit wait for the next settling."""
        for each_slice in slices:
            start = len(self)
            documents = each_slice[: len(self.orders) - start]
            rows = slice(start, start + len(documents))
            decoded = PackedColumns.decode([each.packed for each in documents])
            for name, array in self._arrays.items():
                array[rows] = getattr(decoded, name)
            self.orders[rows] = [each.name.order for each in documents]
            self.groups[rows] = [xxh3_64_intdigest(each.group.encode()) for each in documents]
            self.leads[rows] = [each.lead for each in documents]
            self._indices += [sys.intern(each.name.index) for each in documents]
            self._ids += [each.name.id for each in documents]
            if loops.IN_USE is None:
                self._values += decoded.values
            heartbeat()

    def columns(self) -> PackedColumns:
        """Return the columns of all added rows."""
        size = len(self)
        arrays = {name: array[:size] for name, array in self._arrays.items()}
        return replace(EMPTY, values=tuple(self._values), ids=self._ids, **arrays)

    def find(self, name: DocumentRef, order: int, bounds: tuple[int, int]) -> int | None:
        """Return the row of a document's write; None if it is missing."""
        start, end = bounds
        row = start + int(np.searchsorted(self.orders[start:end], order))
        return row if row < end and self.name(row) == name else None

    def name(self, row: int) -> DocumentRef:
        return self._indices[row], self._ids[row]

    def names(self) -> Iterator[DocumentRef]:
        return zip(self._indices, self._ids, strict=True)


def _make_array(name: str, capacity: int, folder: Path | None) -> NDArray[Any]:
    like = getattr(EMPTY, name)
    shape = (capacity, *like.shape[1:])
    if folder is None or not capacity:
        return np.empty(shape, like.dtype)
    path = folder / name
    with path.open("wb") as file:  # allocated before mapping, so that a write never finds the disk full
        os.posix_fallocate(file.fileno(), 0, int(np.prod(shape)) * like.dtype.itemsize)
    return np.memmap(path, like.dtype, "r+", shape=shape)


SLICE = 5_000  # documents that are read at once

MAX_KEPT = 30_000  # new documents that are kept from the first reading to the second: some 30 MB of news stories

# Reads the first documents of a range, in the order of writing: `StoredGroups.documents`, of all or of leads.
Read = Callable[[SeqNoRange, int], list[GroupedDocument]]


def match_columns(
    stored: StoredColumns,
    leads: Iterable[Sequence[GroupedDocument]],
    new: Iterable[Sequence[GroupedDocument]],
    rules: Rules,
    heartbeat: Callable[[], None],
) -> Match:
    """Find the joins of all new documents, which are read in slices once the settled leads are."""
    stored.add(leads, heartbeat)
    settled = len(stored)
    stored.add(new, heartbeat)
    columns = stored.columns()
    columns.length[_displaced_leads(stored, settled)] = 0
    constraints = rules.constraints(stored.names(), columns)
    grouping = group(columns, rules.policy, constraints, leads=settled, report=lambda _: heartbeat())

    def match(rows: Sequence[Row], _: Marks) -> list[Join]:
        joins = []
        for row in rows:
            if (place := stored.find(row.name, row.order, (settled, len(stored)))) is None:
                raise LeadChanged
            if (lead := int(grouping.lead[place])) != place:
                joins.append(Join(row.name, stored.name(lead), rules.level(grouping.evidence[place])))
        return joins

    return match


def read_slices(read: Read, seq_ranges: Iterable[SeqNoRange], size: int = SLICE) -> Iterator[list[GroupedDocument]]:
    for seq_range in seq_ranges:
        after = seq_range.after
        while after < seq_range.end and (documents := read(SeqNoRange(seq_range.part, after, seq_range.end), size)):
            yield documents
            after = documents[-1].name.order if len(documents) == size else seq_range.end


def keeping(read: Read) -> Read:
    """Return a reader that keeps a limited number of documents for a second read.

    What is kept may have changed since: a write onto it then fails, and the document is settled as it is now.
    """
    kept: dict[tuple[SeqNoRange, int], list[GroupedDocument]] = {}

    def read_once(seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        if (documents := kept.pop((seq_range, size), None)) is None:
            documents = read(seq_range, size)
            if len(documents) + sum(map(len, kept.values())) <= MAX_KEPT:
                kept[seq_range, size] = documents
        return documents

    return read_once


def _displaced_leads(stored: StoredColumns, settled_count: int) -> Rows:
    """Return the new rows whose group another document leads; they leave it and are settled like new ones."""
    groups = stored.groups[: len(stored)]
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    rows = np.arange(len(groups))
    displaced: Rows = rows[((first[number] < rows) | (groups == NO_GROUP)) & (rows >= settled_count)]
    return displaced


Choose = Callable[[PackedColumns], Policy]  # returns the rule for some documents


class Regrouping:
    """The target groups of all documents of an index, by the rule that is chosen for them."""

    def __init__(
        self, stored: StoredColumns, settler: Settler, end: Marks, choose: Choose, heartbeat: Callable[[], None]
    ) -> None:
        self._stored = stored  # all documents, part by part in the order of writing
        self._bounds: dict[SeqNoRange, tuple[int, int]] = {}  # for each part, by its writes, the range of its rows
        for seq_range in all_writes(end):
            start = len(stored)
            stored.add(read_slices(settler.store.documents, [seq_range]), heartbeat)
            self._bounds[seq_range] = start, len(stored)
        columns = stored.columns()
        self.rules = Rules(choose(columns), settler.rules.overrides)
        constraints = self.rules.constraints(stored.names(), columns)
        self.grouping = group(columns, self.rules.policy, constraints, report=lambda _: heartbeat())
        # Rows whose group's name is needed: leads that have followers; and the names, as far as they are known.
        self._is_named, self._names = np.zeros(len(stored), bool), dict[int, str]()
        self._is_named[self.grouping.lead[self.grouping.lead != np.arange(len(stored))]] = True
        # Rows that lead a group first: a rewritten document may repeat the name of its group.
        leads = np.flatnonzero(stored.leads[: len(stored)] & (stored.groups[: len(stored)] != NO_GROUP))
        _, first = np.unique(stored.groups[leads], return_index=True)
        self._is_lead = np.zeros(len(stored), bool)
        self._is_lead[leads[first]] = True

    def write(self, store: StoredGroups, part: SeqNoRange, documents: Sequence[GroupedDocument], plan: Plan) -> None:
        """Write the changes of some documents, leads before their followers."""
        rows = [self._stored.find(ref(each), each.name.order, self._bounds[part]) for each in documents]
        pairs = [(row, each) for row, each in zip(rows, documents, strict=True) if row is not None]
        changes: dict[int, Assignment] = {}
        for row, document in pairs:
            if self.grouping.lead[row] == row:
                name = document.group if self._is_lead[row] else stored_groups.new_group()
                if self._is_named[row]:
                    self._names[row] = name
                if not self._is_lead[row]:
                    changes[row] = Assignment(document, name, lead=True, settled=True)
        if names := [ref(each.document) for each in (*changes.values(), *self._joins(pairs))]:
            plan(names)
        if changes:
            for row, is_written in zip(changes, store.assign([*changes.values()]), strict=True):
                if not is_written:
                    self._names.pop(row, None)
        if joins := self._joins(pairs):
            store.assign(joins)

    def _joins(self, pairs: Sequence[tuple[int, GroupedDocument]]) -> list[Assignment]:
        """Return the assignments of followers that do not yet follow their lead."""
        joins = []
        for row, document in pairs:
            if self.grouping.lead[row] == row:
                continue
            name = self._names.get(int(self.grouping.lead[row]))
            if name is None:  # its lead has changed since it was read: the document is settled as a new one
                joins.append(Assignment(document, stored_groups.new_group(), lead=True))
            elif document.lead or document.group != name:
                joins.append(Assignment(document, name, lead=False))
        return joins


def count_joined(grouping: Grouping, rules: Rules) -> Counter[str]:
    """Count the followers, by the level at which they duplicate their lead."""
    followers = grouping.lead != np.arange(len(grouping.lead))
    joins: Counter[str] = Counter()
    for code, count in zip(*np.unique(grouping.evidence[followers], return_counts=True), strict=True):
        joins[rules.level(code)] += int(count)
    return joins
