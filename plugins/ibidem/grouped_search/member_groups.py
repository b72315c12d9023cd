"""Groups of a window by stored thread or work; other documents are grouped by their texts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import xxhash

from ibidem.grouped_search.members import WindowMembers
from ibidem.grouped_search.response import sort_key_earliest
from ibidem.grouped_search.window import Window
from ibidem_dedupe.leader_clustering import Grouping
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.parameters import Membership
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.stored_groups import Memberships

# Remedy where no document is of a thread or a work.
COMMANDS: Mapping[Membership, str] = {
    "thread": "find and store the threads of mails with: ibidem regroup --threads",
    "version": "find and store the versions of works with: ibidem regroup --versions",
}


def group_members(
    window: Window, kind: Membership, stored: Mapping[DocumentRef, Memberships], overrides: Iterable[Override]
) -> Window:
    """Group a window by threads or works."""
    rows = range(len(window.hits))
    days = [sort_key_earliest(window.columns, row) for row in rows]
    members = WindowMembers(kind, [window.name(row) for row in rows], stored, days)
    grouping = Grouping.alone(len(rows))
    first: dict[str, int] = {}
    for row in rows:
        if name := members.set_name(row):
            grouping.lead[row] = first.setdefault(name, row)
    others = np.array([row for row in rows if not members.set_name(row)], np.int64)
    if others.size:
        alone = Window.group([window.hits[row] for row in others.tolist()], window.policy, overrides).grouping
        grouping.lead[others], grouping.evidence[others] = others[alone.lead], alone.evidence
        grouping.crowded[others] = alone.crowded
    names = {row: xxhash.xxh3_64_hexdigest(f"{kind}\0{name}".encode())[:12] for name, row in first.items()}
    return replace(window, grouping=grouping, group_names=names, members=members)


def member_stats(window: Window, request: DedupeRequest) -> Mapping[str, object]:
    """Return the account's counts of threads or works; empty if these are not grouped."""
    members = window.members
    if members is None or not request.membership:
        return {}
    rows = range(window.ranked)
    placed = sum(bool(members.set_name(row)) for row in rows)
    stats: dict[str, object] = {"placed": placed}
    if request.membership == "thread" and placed:
        stats["families"] = members.families(rows)
    return stats if placed or not window.ranked else stats | {"remedy": COMMANDS[request.membership]}
