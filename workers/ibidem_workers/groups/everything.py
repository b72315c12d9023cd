"""Settling all documents again: each one is compared, and only changes are written.

All documents are taken in the order of writing, followers and leads alike. A lead that stays one keeps its group's
name. A process that is killed has written a part; the next one reads what is there and writes the rest.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from xxhash import xxh3_64_intdigest

from ibidem_dedupe.column_rules import Bools
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.policy import Policy
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_engines.stored_groups import Assignment, GroupedDocument, Marks, SeqNoRange, ShardRef, StoredGroups
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.block import Rules
from ibidem_workers.groups.columns_match import add, read_slices
from ibidem_workers.groups.lookup_match import ref
from ibidem_workers.groups.settle import Plan, Settler, fresh_name, own_name
from ibidem_workers.groups.stored_columns import NO_GROUP, StoredColumns

Choose = Callable[[PackedColumns], Policy]  # returns the rule for some documents


@dataclass(eq=False, slots=True)
class Regrouping:
    """The target groups of all documents of an index."""

    stored: StoredColumns  # all documents, part by part in the order of writing
    rules: Rules  # the rules of the groups
    grouping: Grouping  # the lead of each
    bounds: Mapping[ShardRef, tuple[int, int]]  # for each part the range of its rows
    is_named: Bools  # (n,) rows whose group's name is needed: leads that have followers
    is_lead: Bools  # (n,) rows that lead their group already, the first of it in the order of writing
    names: dict[int, str] = field(default_factory=dict)  # names of the groups of such leads, as far as they are known
    group_hashes: frozenset[int] = frozenset()  # hashes of the names of all groups

    @classmethod
    def find(
        cls, stored: StoredColumns, settler: Settler, end: Marks, choose: Choose, heartbeat: Callable[[], None]
    ) -> "Regrouping":
        """Read all documents, and group them by the rule that is chosen for them."""
        store = settler.store
        bounds = {}
        for seq_range in seq_ranges(end):
            start = len(stored)
            add(stored, read_slices(store.documents, [seq_range]), heartbeat)
            bounds[seq_range.part] = start, len(stored)
        columns = stored.columns()
        rules = Rules(choose(columns), settler.rules.overrides)
        constraints = rules.constraints(stored.names, columns)
        grouping = group(columns, rules.policy, constraints, report=lambda _: heartbeat())
        is_named = np.zeros(len(stored), bool)
        is_named[grouping.lead[grouping.lead != np.arange(len(stored))]] = True
        group_hashes = frozenset(np.unique(stored.groups[: len(stored)]).tolist())
        return cls(stored, rules, grouping, bounds, is_named, first_leads(stored), group_hashes=group_hashes)

    def write(self, store: StoredGroups, part: ShardRef, documents: Sequence[GroupedDocument], plan: Plan) -> None:
        """Write the changes of some documents, leads before their followers."""
        rows = [self.stored.find(ref(each), each.name.order, self.bounds[part]) for each in documents]
        pairs = [(row, each) for row, each in zip(rows, documents, strict=True) if row is not None]
        leads = [(row, self._lead(row, each)) for row, each in pairs if self.grouping.lead[row] == row]
        changes = {row: change for row, change in leads if change is not None}
        if names := [ref(each.document) for each in (*changes.values(), *self._joins(pairs))]:
            plan(names)
        if changes:
            for row, is_written in zip(changes, store.assign([*changes.values()]), strict=True):
                if not is_written:
                    self.names.pop(row, None)
        if joins := self._joins(pairs):
            store.assign(joins)

    def _joins(self, pairs: Sequence[tuple[int, GroupedDocument]]) -> list[Assignment]:
        """Return the assignments of followers that do not yet follow their lead."""
        joins = (self._join(row, each) for row, each in pairs if self.grouping.lead[row] != row)
        return [each for each in joins if each is not None]

    def _lead(self, row: int, document: GroupedDocument) -> Assignment | None:
        """Return the assignment of a lead; None if it already leads its group."""
        is_lead = bool(self.is_lead[row])
        name = document.group if is_lead else self._new_name(document)
        if self.is_named[row]:
            self.names[row] = name
        return None if is_lead else Assignment(document, name, lead=True, settled=True)

    def _new_name(self, document: GroupedDocument) -> str:
        """Return an unused group name: the document's own, unless a group had it when all documents were read."""
        name = own_name(document)
        return fresh_name(document) if xxh3_64_intdigest(name.encode()) in self.group_hashes else name

    def _join(self, row: int, document: GroupedDocument) -> Assignment | None:
        """Return the assignment of a follower; None if it already follows its lead."""
        name = self.names.get(int(self.grouping.lead[row]))
        if name is None:  # its lead has changed since it was read: the document is settled as a new one
            return Assignment(document, self._new_name(document), lead=True)
        return Assignment(document, name, lead=False) if document.lead or document.group != name else None


def first_leads(stored: StoredColumns) -> Bools:
    """Return the rows that lead a group first; a rewritten document may repeat the name of its group."""
    rows = np.flatnonzero(stored.leads[: len(stored)] & (stored.groups[: len(stored)] != NO_GROUP))
    _, first = np.unique(stored.groups[rows], return_index=True)
    is_lead = np.zeros(len(stored), bool)
    is_lead[rows[first]] = True
    return is_lead


def seq_ranges(end: Marks) -> list[SeqNoRange]:
    """Return the ranges of all writes of each part, up to some sequence numbers."""
    return [SeqNoRange(part, 0, number) for part, number in end.items()]


def count_joined(grouping: Grouping, rules: Rules) -> Counter[str]:
    """Count the followers, by the level at which they duplicate their lead."""
    rows = np.flatnonzero(grouping.lead != np.arange(len(grouping.lead)))
    _, first, counts = np.unique(grouping.evidence[rows], return_index=True, return_counts=True)
    joins: Counter[str] = Counter()
    for position, count in zip(first.tolist(), counts.tolist(), strict=True):
        joins[rules.level(grouping, int(rows[position]))] += count
    return joins


NAMES_AT_ONCE = 10_000  # documents that are named together once all are written


def settle_everything(  # noqa: PLR0913, PLR0917 - what is settled, with what, and who is told
    settler: Settler,
    checkpoint: GroupCheckpoint,
    end: Marks,
    memory: int,
    report: Callable[[int], None],
    plan: Plan,
    settled: Plan,
) -> None:
    """Settle all documents again, and record this in the checkpoint."""
    store = settler.store
    with StoredColumns(store.counts().documents, memory) as stored:
        regrouping = Regrouping.find(stored, settler, end, checkpoint.choose_policy, lambda: report(0))
        for seq_range in seq_ranges(end):
            for documents in read_slices(store.documents, [seq_range]):
                regrouping.write(store, seq_range.part, documents, plan)
                report(len(documents))
        checkpoint.joined = dict(count_joined(regrouping.grouping, regrouping.rules))
        names = iter(stored.names)
        while some := list(islice(names, NAMES_AT_ONCE)):
            settled(some)
    checkpoint.done = {str(part): number for part, number in end.items()}
    checkpoint.everything, checkpoint.in_hand = False, []
