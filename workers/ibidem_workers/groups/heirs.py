"""Heirs of groups without a lead: the first remaining member becomes the lead, under the same name.

Which members duplicate the new lead is decided when it is settled.
"""

from collections.abc import Iterator, Sequence

from ibidem_engines.stored_groups import Assignment, GroupedDocument, StoredGroups


def inherit(store: StoredGroups) -> bool:
    """Give an heir to each group of the index that has lost its lead."""
    is_done = True
    store.newest()
    for sizes in store.sizes():
        is_done &= inherit_groups(store, list(sizes))
    return is_done


def inherit_groups(store: StoredGroups, groups: Sequence[str]) -> bool:
    """Give an heir to each of some groups that has lost its lead; returns whether all were written."""
    lead_groups = {each.group for members in store.members(groups, lead=True) for each in members}
    heirs = [heir for group in groups if group not in lead_groups for heir in first_member(store, group)]
    return not heirs or all(store.assign([Assignment(each, each.group, lead=True) for each in heirs]))


def first_member(store: StoredGroups, group: str) -> Iterator[GroupedDocument]:
    """Yield the first document of a group, if there is one."""
    for members in store.members([group]):
        yield members[0]
        return
