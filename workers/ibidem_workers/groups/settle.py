"""Settling of one portion: leads, joins, and new groups for the followers of a lead that was written again."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ibidem_dedupe.policy import Policy
from ibidem_engines.reindex import Marks
from ibidem_engines.stored_groups import Assignment, GroupedDocument, LeadKeys, StoredGroups
from ibidem_ingest.signatures.content import group_name
from ibidem_ingest.signatures.lookup_keys import lookup_keys_batch
from ibidem_workers.groups.pairs import content_keys, near_keys
from ibidem_workers.groups.portion import Join, Name, Overrides, Row, Rules, group_portion

ROUNDS = 5
"""How often a portion is settled again when a lead that a document would join has disappeared."""


class Outrun(Exception):
    """Another process changed a lead that a document was about to join."""


@dataclass(slots=True)
class Settler:
    """Settles portions of one index.

    Args:
        store: The index's groups.
        policy: The figures.
        overrides: Manual decisions.
        recent_joins: Documents that joined since searches were last refreshed; a search may still show them as leads.
    """

    store: StoredGroups
    policy: Policy
    overrides: Overrides
    recent_joins: set[Name] = field(default_factory=set)

    def settle(self, portion: Sequence[GroupedDocument], marks: Marks, plan: Callable[[Counter[str]], None]) -> None:
        """Settle a portion.

        Args:
            portion: Leads that are not settled, in the order of writing.
            marks: Up to which write of each part leads are settled.
            plan: Called with how many documents will join, by level, before anything is written.
        """
        for turn in range(ROUNDS):
            try:
                self._settle(portion, marks, plan)
            except Outrun:
                if turn + 1 == ROUNDS:
                    raise
                self.refresh()
            else:
                return

    def refresh(self) -> None:
        """Bring searches up to date."""
        self.store.newest()
        self.recent_joins.clear()

    def _settle(self, portion: Sequence[GroupedDocument], marks: Marks, plan: Callable[[Counter[str]], None]) -> None:
        followers = self._followers(portion)
        twins = self._twins(portion, followers)
        self._write([start_group(each) for each in twins])
        twin_ids = {each.name.id for each in twins}
        documents = {_name(each): each for each in portion if each.name.id not in twin_ids}
        rows = [row for each in documents.values() if (row := make_row(each)) is not None]
        rules = Rules(self.policy, self.overrides.judge(self.policy), self.overrides.names)
        joins = group_portion(rows, partial(self._find, marks=marks), rules)
        groups = self._groups(joins, documents)
        plan(Counter(join.level for join in joins))
        self._write(self._successions(joins, documents, followers, rules))
        outcomes = self._write(
            [Assignment(documents[join.row.name], groups[join.lead.name], lead=False) for join in joins]
        )
        self.recent_joins |= {join.row.name for join, has_joined in zip(joins, outcomes, strict=True) if has_joined}

    def _followers(self, portion: Sequence[GroupedDocument]) -> Mapping[str, list[GroupedDocument]]:
        """Read the followers of these documents; there are none unless a lead was written again."""
        followers: defaultdict[str, list[GroupedDocument]] = defaultdict(list)
        names = [each.name.id for each in portion]
        for members in self.store.members([each.group for each in portion if each.group], names):
            for each in members:
                if _name(each) not in self.recent_joins:
                    followers[each.group].append(each)
        return followers

    def _twins(
        self, portion: Sequence[GroupedDocument], followers: Mapping[str, Sequence[GroupedDocument]]
    ) -> list[GroupedDocument]:
        """Return the documents whose group another document leads now, since they were written again."""
        lead_groups = {group for group, members in followers.items() if any(each.lead for each in members)}
        twins = []
        for each in portion:
            if each.group in lead_groups or not each.group:
                twins.append(each)
            lead_groups.add(each.group)
        return twins

    def _find(self, rows: Sequence[Row], marks: Marks, *, copies: bool) -> list[Row]:
        """Look up settled leads, without those that have joined a group since."""
        lookups = [each for each in self._lookups(rows, copies=copies) if each.values or each.several]
        hits = self.store.carriers(lookups, marks) if lookups and any(marks.values()) else []
        leads = {(hit.index, hit.id): Row((hit.index, hit.id), hit.order, hit.packed or b"") for hit in hits}
        partners = {name for row in rows if row.name in self.overrides.names for name in self.overrides.partners(row)}
        leads |= {row.name: row for row in self._override_leads(partners - leads.keys(), marks)}
        row_names = {row.name for row in rows}
        return [row for name, row in leads.items() if name not in self.recent_joins and name not in row_names]

    def _lookups(self, rows: Sequence[Row], *, copies: bool) -> list[LeadKeys]:
        """Return the look-up keys of each document."""
        values = [(row.packed, row.value) for row in rows if row.packed is not None]
        if copies:
            return [content_keys(packed) for packed, _ in values]
        keys = lookup_keys_batch([value for _, value in values])
        return [near_keys(packed, self.policy, row_keys) for (packed, _), row_keys in zip(values, keys, strict=True)]

    def _override_leads(self, names: set[Name], marks: Marks) -> Iterable[Row]:
        for each in self.store.read(sorted(names), marks) if names else ():
            if each.lead and (row := make_row(each)) is not None:
                yield row

    def _groups(self, joins: Sequence[Join], documents: Mapping[Name, GroupedDocument]) -> Mapping[Name, str]:
        """Return the groups of the leads that are joined.

        Raises:
            Outrun: One is no lead any more.
        """
        groups = {name: each.group for name, each in documents.items()}
        names = sorted({join.lead.name for join in joins} - groups.keys())
        leads = {_name(each): each for each in self.store.read(names)} if names else {}
        for name in names:
            if name not in leads or not leads[name].lead:
                raise Outrun
            groups[name] = leads[name].group
        return groups

    def _successions(
        self,
        joins: Sequence[Join],
        documents: Mapping[Name, GroupedDocument],
        followers: Mapping[str, list[GroupedDocument]],
        rules: Rules,
    ) -> list[Assignment]:
        """Return new assignments for the followers of each lead that was written again.

        Where the lead joins another lead, its first follower leads the group under the same name. Where it stays a
        lead, followers that do not duplicate it leave, and the name stays with the larger part. New leads and their
        followers are settled again.
        """
        joiners = {join.row.name for join in joins}
        changes: list[Assignment] = []
        for name, lead in documents.items():
            members = followers.get(lead.group, [])
            if not members:
                continue
            if name in joiners:
                changes.append(Assignment(members[0], lead.group, lead=True))
                continue
            lead_row = make_row(lead)
            rows = [(each, make_row(each)) for each in members]
            successors = [each for each, row in rows if lead_row and row and rules.judge(row, lead_row)]
            changes += split_group(lead, successors, [each for each in members if each not in successors])
        return changes

    def _write(self, changes: Sequence[Assignment]) -> list[bool]:
        return self.store.assign(changes) if changes else []


def split_group(
    lead: GroupedDocument, members: Sequence[GroupedDocument], leavers: Sequence[GroupedDocument]
) -> list[Assignment]:
    """Split a group; the name stays with the larger part.

    Args:
        lead: The lead.
        members: Followers that still duplicate it.
        leavers: Followers that do not.
    """
    if len(leavers) <= len(members) + 1:
        return [start_group(each) for each in leavers]
    name = fresh_name(lead)
    followers = [Assignment(each, name, lead=False) for each in members]
    return [Assignment(leavers[0], lead.group, lead=True), Assignment(lead, name, lead=True), *followers]


def start_group(document: GroupedDocument) -> Assignment:
    """Let a document lead a group of its own, under a name that was never used."""
    return Assignment(document, fresh_name(document), lead=True)


def fresh_name(document: GroupedDocument) -> str:
    """Return a group name made of a document's id and the number of its write, which is never used twice."""
    return group_name(f"{document.name.id}\0{document.name.order}")


def make_row(document: GroupedDocument) -> Row | None:
    """Return a document as a row to group; None when it has no words or signatures."""
    row = Row(_name(document), document.name.order, document.packed)
    return row if row.packed is not None and row.packed.length else None


def _name(document: GroupedDocument) -> Name:
    return document.name.index, document.name.id
