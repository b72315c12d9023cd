"""Promotion in groups without a lead: the first remaining member becomes the lead, under the same name.

Which members duplicate the new lead is decided when it is settled.
"""

from collections.abc import Iterator, Sequence

from ibidem_engines.stored_groups import Assignment, GroupedDocument, StoredGroups


def promote(store: StoredGroups) -> bool:
    """Promote a member in each group that has lost its lead; returns whether all were written."""
    is_done = True
    store.newest()
    for sizes in store.sizes():
        is_done &= promote_in(store, list(sizes))
    return is_done


def promote_in(store: StoredGroups, groups: Sequence[str]) -> bool:
    """Promote a member in each of some groups that has lost its lead; returns whether all were written."""
    lead_groups = {each.group for members in store.members(groups, lead=True) for each in members}
    promoted = [each for group in groups if group not in lead_groups for each in first_member(store, group)]
    return not promoted or all(store.assign([Assignment(each, each.group, lead=True) for each in promoted]))


def first_member(store: StoredGroups, group: str) -> Iterator[GroupedDocument]:
    """Yield the first document of a group, if there is one."""
    for members in store.members([group]):
        yield members[0]
        return
