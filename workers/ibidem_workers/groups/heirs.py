"""Heirs of groups whose lead is gone: the first remaining member leads such a group under its name.

Which members duplicate the new lead is decided when it is settled.
"""

from collections.abc import Iterator, Sequence

from ibidem_engines.stored_groups import Assignment, GroupedDocument, StoredGroups


def inherit(store: StoredGroups) -> bool:
    """Give each group of the index whose lead is gone an heir.

    Returns:
        Whether all were written: one that was changed meanwhile is read again the next time.
    """
    is_done = True
    store.newest()
    for sizes in store.sizes():
        is_done &= inherit_groups(store, list(sizes))
    return is_done


def inherit_groups(store: StoredGroups, groups: Sequence[str]) -> bool:
    """Give each of some groups whose lead is gone an heir; returns whether all were written."""
    lead_groups = {each.group for members in store.members(groups, lead=True) for each in members}
    heirs = [heir for group in groups if group not in lead_groups for heir in first_member(store, group)]
    return not heirs or all(store.assign([Assignment(each, each.group, lead=True) for each in heirs]))


def first_member(store: StoredGroups, group: str) -> Iterator[GroupedDocument]:
    """Yield the first document of a group, if there is one."""
    for members in store.members([group]):
        yield members[0]
        return
