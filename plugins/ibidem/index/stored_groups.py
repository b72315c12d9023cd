"""The stored groups of an index, counted and listed: slice by slice, in constant memory, whatever the index holds."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from ibidem.index.documents import titles
from ibidem.index.groups import LARGEST, Member
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Grouped, StoredGroups
from ibidem_ingest.pairs.decision import Policy, decide
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.checkpoint import Checkpoint, policy_of
from ibidem_workers.groups.follow import store_of

AT_ONCE = 100
"""Groups whose documents are held at once."""


@dataclass(frozen=True, slots=True)
class StoredReport:
    """The stored groups of an index.

    Args:
        engine: The index.
    """

    engine: Engine

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem groups --stored --json` prints, by the names of `ibidem groups`."""
        store = store_of(self.engine)
        store.newest()
        counts = store.counts()
        sizes: Counter[int] = Counter()
        largest: list[tuple[int, str]] = []
        for some in store.sizes():
            sizes.update(1 + followers for followers in some.values())
            largest = nsmallest(LARGEST, [*largest, *((-1 - size, group) for group, size in some.items())])
        return {
            "level": "near",
            "documents": counts.documents,
            "groups": counts.groups,
            "duplicates": counts.documents - counts.groups,
            "unsigned": counts.unsigned,
            "crowded": 0,
            "sizes": {str(size): count for size, count in sorted(sizes.items())},
            "kinds": {},
            "capped": {},
            "largest": self._largest(store, {group: -size for size, group in largest}),
        }

    def _largest(self, store: StoredGroups, sizes: Mapping[str, int]) -> list[dict[str, object]]:
        """Name the leads of some groups, the largest group first."""
        leads = {each.group: each for some in store.members(list(sizes), lead=True) for each in some} if sizes else {}
        named = titles(self.engine, [(each.name.index, each.name.id) for each in leads.values()])
        return [
            {"lead": lead.name.id, "title": named.get((lead.name.index, lead.name.id), ""), "size": size}
            for group, size in sizes.items()
            if (lead := leads.get(group)) is not None
        ]

    def members(self) -> Iterator[Member]:
        """Yield the documents of all groups of two or more, group by group, the lead first."""
        store, policy = store_of(self.engine), stored_policy(self.engine)
        store.newest()
        for sizes in store.sizes(AT_ONCE):
            members: defaultdict[str, list[Grouped]] = defaultdict(list)
            for some in store.members(list(sizes)):
                for each in some:
                    members[each.group].append(each)
            for group in sizes:
                documents = sorted(members[group], key=lambda each: not each.lead)
                yield from (member(each, documents[0], len(documents), policy) for each in documents)


def stored_policy(engine: Engine) -> Policy:
    """Return the figures by which the groups of an index are stored."""
    return policy_of(Checkpoint.read(engine).policy)


def member(document: Grouped, lead: Grouped, size: int, policy: Policy) -> Member:
    """Describe a document in its group."""
    evidence = ""
    if document is not lead:
        a, b = unpack(document.packed), unpack(lead.packed)
        verdict = decide(a, b, policy) if a is not None and b is not None else None
        evidence = verdict.signature if verdict else "override"
    return Member(lead.name.id, document.name.index, document.name.id, size, evidence)


def group_of(engine: Engine, name: str) -> dict[str, object]:
    """Describe the stored group of a document: its name, its lead, how many it holds, and what joined the document.

    Args:
        engine: The index.
        name: Id of the document.
    """
    store = store_of(engine)
    store.newest()
    for own in store.read([(part.index, name) for part in {part.index: part for part in store.parts()}.values()]):
        lead, documents = own, 0
        for some in store.members([own.group]):
            lead = next((each for each in some if each.lead), lead)
            documents += len(some)
        joined = member(own, lead, documents, stored_policy(engine)).evidence if own.name.id != lead.name.id else None
        return {"name": own.group, "lead": lead.name.id, "documents": documents, "signature": joined}
    return {}
