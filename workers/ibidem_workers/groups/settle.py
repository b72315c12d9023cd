"""One portion of documents, settled: who leads, who joins, and what becomes of those that followed a changed lead."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ibidem_engines.reindex import Marks
from ibidem_engines.stored_groups import Assignment, Grouped, LeadKeys, StoredGroups
from ibidem_ingest.pairs.policy import Policy
from ibidem_ingest.signatures.content import group_name
from ibidem_ingest.signatures.lookup_keys import lookup_keys_batch
from ibidem_workers.groups.pairs import content_of, values_of
from ibidem_workers.groups.portion import Join, Name, Overrides, Row, Rules, grouped

ROUNDS = 5
"""How often a portion is settled again when a lead that a document would join has disappeared meanwhile."""


class Outrun(Exception):
    """Another process changed a lead that a document was about to join."""


@dataclass(slots=True)
class Settler:
    """Settles portions of one index.

    Args:
        store: The index's groups.
        policy: The figures.
        overrides: Manual decisions.
        joined: Documents that joined since searches were last refreshed; a search may still show them as leads.
    """

    store: StoredGroups
    policy: Policy
    overrides: Overrides
    joined: set[Name] = field(default_factory=set)

    def settle(self, portion: Sequence[Grouped], before: Marks, plan: Callable[[Counter[str]], None]) -> None:
        """Settle a portion.

        Args:
            portion: Leads that are not settled, in the order of writing.
            before: Up to which write of each part leads are settled.
            plan: Called with how many documents will join, by level, before anything is written.
        """
        for turn in range(ROUNDS):
            try:
                self._settle(portion, before, plan)
            except Outrun:
                if turn + 1 == ROUNDS:
                    raise
                self.refresh()
            else:
                return

    def refresh(self) -> None:
        """Bring searches up to date."""
        self.store.newest()
        self.joined.clear()

    def _settle(self, portion: Sequence[Grouped], before: Marks, plan: Callable[[Counter[str]], None]) -> None:
        others = self._others(portion)
        twins = self._twins(portion, others)
        self._write([renamed(each) for each in twins])
        twin_ids = {each.name.id for each in twins}
        documents = {_name(each): each for each in portion if each.name.id not in twin_ids}
        rows = [row for each in documents.values() if (row := row_of(each)) is not None]
        rules = Rules(self.policy, self.overrides.judge(self.policy), self.overrides.names)
        joins = grouped(rows, partial(self._find, before=before), rules)
        groups = self._groups(joins, documents)
        plan(Counter(join.level for join in joins))
        self._write(self._successions(joins, documents, others, rules))
        done = self._write([Assignment(documents[join.row.name], groups[join.lead.name], lead=False) for join in joins])
        self.joined |= {join.row.name for join, written in zip(joins, done, strict=True) if written}

    def _others(self, portion: Sequence[Grouped]) -> Mapping[str, list[Grouped]]:
        """Read the other members of the groups that these documents lead: none, unless one was written again."""
        others: defaultdict[str, list[Grouped]] = defaultdict(list)
        names = [each.name.id for each in portion]
        for some in self.store.members([each.group for each in portion if each.group], names):
            for each in some:
                if _name(each) not in self.joined:
                    others[each.group].append(each)
        return others

    def _twins(self, portion: Sequence[Grouped], others: Mapping[str, Sequence[Grouped]]) -> list[Grouped]:
        """Name the documents of which another one leads the group: it went on when they were written again."""
        led = {group for group, some in others.items() if any(each.lead for each in some)}
        twins = []
        for each in portion:
            if each.group in led or not each.group:
                twins.append(each)
            led.add(each.group)
        return twins

    def _find(self, rows: Sequence[Row], before: Marks, *, copies: bool) -> list[Row]:
        """Look among the leads that are settled; those that joined since are none."""
        lookups = [each for each in self._lookups(rows, copies=copies) if each.values or each.several]
        hits = self.store.carriers(lookups, before) if lookups and any(before.values()) else []
        leads = {(hit.index, hit.id): Row((hit.index, hit.id), hit.order, hit.packed or b"") for hit in hits}
        partners = {name for row in rows if row.name in self.overrides.names for name in self.overrides.partners(row)}
        leads |= {row.name: row for row in self._declared(partners - leads.keys(), before)}
        own = {row.name for row in rows}
        return [row for name, row in leads.items() if name not in self.joined and name not in own]

    def _lookups(self, rows: Sequence[Row], *, copies: bool) -> list[LeadKeys]:
        """Name what the leads of each document are looked up by."""
        signed = [(row.packed, row.value) for row in rows if row.packed is not None]
        if copies:
            return [content_of(packed) for packed, _ in signed]
        keys = lookup_keys_batch([value for _, value in signed])
        return [values_of(packed, self.policy, its) for (packed, _), its in zip(signed, keys, strict=True)]

    def _declared(self, names: set[Name], before: Marks) -> Iterable[Row]:
        for each in self.store.read(sorted(names), before) if names else ():
            if each.lead and (row := row_of(each)) is not None:
                yield row

    def _groups(self, joins: Sequence[Join], documents: Mapping[Name, Grouped]) -> Mapping[Name, str]:
        """Name the groups of the leads that are joined.

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
        documents: Mapping[Name, Grouped],
        others: Mapping[str, list[Grouped]],
        rules: Rules,
    ) -> list[Assignment]:
        """Say what becomes of those that followed a document which was written again.

        Where it joins another lead, the first of them leads the group under its name. Where it leads on, those that do
        not duplicate it part from it, and the name stays with the larger part. Who is made a lead is looked at again,
        and so is who follows it.
        """
        joiners = {join.row.name for join in joins}
        changes: list[Assignment] = []
        for name, lead in documents.items():
            followers = others.get(lead.group, [])
            if not followers:
                continue
            if name in joiners:
                changes.append(Assignment(followers[0], lead.group, lead=True))
                continue
            own = row_of(lead)
            rows = [(each, row_of(each)) for each in followers]
            successors = [each for each, row in rows if own and row and rules.judge(row, own)]
            changes += parted(lead, successors, [each for each in followers if each not in successors])
        return changes

    def _write(self, changes: Sequence[Assignment]) -> list[bool]:
        return self.store.assign(changes) if changes else []


def parted(lead: Grouped, members: Sequence[Grouped], others: Sequence[Grouped]) -> list[Assignment]:
    """Part a group; the name stays with the larger part.

    Args:
        lead: The lead.
        members: Those that duplicate it still.
        others: Those that do not.
    """
    if len(others) <= len(members) + 1:
        return [renamed(each) for each in others]
    name = fresh_name(lead)
    follow = [Assignment(each, name, lead=False) for each in members]
    return [Assignment(others[0], lead.group, lead=True), Assignment(lead, name, lead=True), *follow]


def renamed(document: Grouped) -> Assignment:
    """Let a document lead a group of its own, under a name that no other was ever given."""
    return Assignment(document, fresh_name(document), lead=True)


def fresh_name(document: Grouped) -> str:
    """Make a name of a document's id and the number of its write, which is never given out twice."""
    return group_name(f"{document.name.id}\0{document.name.order}")


def row_of(document: Grouped) -> Row | None:
    """Give a document as one that is grouped; None for one without words or signatures."""
    row = Row(_name(document), document.name.order, document.packed)
    return row if row.packed is not None and row.packed.length else None


def _name(document: Grouped) -> Name:
    return document.name.index, document.name.id
