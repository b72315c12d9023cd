"""Report of tags by group: copies with different tags, and documents that are not tagged yet."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, Literal

import numpy as np

from ibidem.index.documents import names as find_names
from ibidem.index.documents import titles
from ibidem.index.groups import IndexGroups, index_groups
from ibidem.index.tags import Row, TagState, read_contents, read_state
from ibidem.index.threads import index_threads
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.tags import Tags
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import GroupCheckpoint
from ibidem_ingest.errors import UsageError

AT_ONCE = 100  # groups whose documents are held at once

NAMES_AT_ONCE = 500

# Groups that are made now, those that are stored, or threads of mails.
GroupsBy = Literal["groups", "stored", "threads"]

Status = Literal["inconsistent", "open", "complete"]
# States of a group: two tagged documents differ; else some are not tagged; else all have the same tags.
STATUSES: tuple[Status, ...] = ("inconsistent", "open", "complete")


@dataclass(frozen=True, slots=True)
class ReviewedDocument:
    """A document of a group."""

    name: DocumentRef  # its index and id
    content: str  # its content hash
    state: TagState  # what holds of it


@dataclass(frozen=True, slots=True)
class ReviewedGroup:
    """A group with at least one document whose tags are valid."""

    lead: DocumentRef  # index and id of its first document
    documents: Sequence[ReviewedDocument]  # its documents, as far as they may be read; the lead first
    kind: Literal["group", "thread"] = "group"  # `group` or `thread`

    @property
    def status(self) -> Status:
        """Status of the review of the group."""
        if len({each.state.tags for each in self._tagged()}) > 1:
            return "inconsistent"
        return "complete" if len(self._tagged()) == len(self.documents) else "open"

    @property
    def is_of_copies(self) -> bool:
        """Whether two documents with the same words in the same order have different tags."""
        tags_by_content: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for each in self._tagged():
            if each.content:
                tags_by_content[each.content].add(each.state.tags)
        return any(len(tags) > 1 for tags in tags_by_content.values())

    @property
    def differing(self) -> Sequence[str]:
        """The tags that some of the group's tagged documents have and others lack."""
        counts = Counter(tag for each in self._tagged() for tag in each.state.tags)
        return sorted(tag for tag, count in counts.items() if count < len(self._tagged()))

    def rank(self) -> tuple[object, ...]:
        """Return the sort key of groups in the report."""
        return STATUSES.index(self.status), not self.is_of_copies, -len(self.documents), self.lead

    def _tagged(self) -> Sequence[ReviewedDocument]:
        return [each for each in self.documents if each.state.state == "tagged"]


@dataclass(frozen=True, slots=True)
class TagReport:
    """The groups with tagged documents."""

    # The inconsistent and the open ones; those with differing copies first, then the largest.
    groups: Sequence[ReviewedGroup]
    # Numbers of groups by status, of their documents by state, and of documents that were tagged and are in none:
    # `outside` those that are there, `gone` the others.
    counts: Mapping[str, int]
    titles: Mapping[DocumentRef, str] = field(default_factory=dict)  # titles of the documents of these groups

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem tags report --json` prints."""
        return {
            "counts": dict(self.counts),
            "inconsistent": [self._as_json(group) for group in self.having("inconsistent")],
            "open": [self._as_json(group) for group in self.having("open")],
        }

    def having(self, status: Status) -> Sequence[ReviewedGroup]:
        """Return the groups with a status."""
        return [group for group in self.groups if group.status == status]

    def _as_json(self, group: ReviewedGroup) -> dict[str, object]:
        return {
            "lead": group.lead[1],
            "kind": group.kind,
            "status": group.status,
            "copies": group.is_of_copies,
            "differing": list(group.differing),
            "documents": [self._describe(each) for each in group.documents],
        }

    def _describe(self, document: ReviewedDocument) -> dict[str, object]:
        last = max((each.entry for each in document.state.entries.values()), key=lambda each: each.date, default=None)
        return {
            "index": document.name[0],
            "id": document.name[1],
            "title": self.titles.get(document.name, ""),
            "state": document.state.state,
            "tags": list(document.state.tags),
            "author": last.author if last else "",
            "date": last.date if last else "",
        }

    def rows(self) -> Iterator[Row]:
        """Yield a row for each document of the groups, group by group."""
        for group in self.groups:
            about: dict[str, Any] = self._as_json(group)
            for document in about["documents"]:
                yield {name: about[name] for name in GROUP_COLUMNS} | document


GROUP_COLUMNS = ("lead", "kind", "status", "copies", "differing")
# Columns of the report as a table.
COLUMNS = (*GROUP_COLUMNS, "index", "id", "title", "state", "tags", "author", "date")

COUNTS = ("groups", *STATUSES, "documents", "tagged", "untagged", "changed")

Members = tuple[DocumentRef, Sequence[DocumentRef]]  # a group: its first document, and all of them


def report_tags(
    engine: Engine,
    tags: Tags,
    policy: Policy | None = None,
    *,
    by: GroupsBy = "groups",
    progress: Callable[[int], None] = lambda _: None,
) -> TagReport:
    """Compare the tags of the documents of each group."""
    if by == "stored" and not GroupCheckpoint.read(engine.group_set()).done:
        raise UsageError(f"no groups are stored in index {engine.index!r}", "store them by: ibidem backfill --groups")
    tagged = tags.tagged
    there = set(read_contents(engine, tagged))
    if by == "stored":
        groups = stored_groups_of(engine, there)
    elif by == "threads":
        groups = threads_of(engine, there, progress)
    else:
        groups = groups_of(index_groups(engine, policy, progress=progress), there)
    counts = dict.fromkeys(COUNTS, 0) | {"outside": len(there), "gone": len(tagged) - len(there)}
    listed: list[ReviewedGroup] = []
    for group in review_groups(engine, tags, groups, "thread" if by == "threads" else "group"):
        count(counts, group)
        counts["outside"] -= sum(each.name in there for each in group.documents)
        if group.status != "complete":
            listed.append(group)
    listed.sort(key=ReviewedGroup.rank)
    return TagReport(listed, counts, read_titles(engine, [each.name for group in listed for each in group.documents]))


def count(counts: dict[str, int], group: ReviewedGroup) -> None:
    """Add a group to the counts."""
    counts["groups"] += 1
    counts[group.status] += 1
    for document in group.documents:
        counts["documents"] += 1
        counts[document.state.state] += 1


def read_titles(engine: Engine, names: Sequence[DocumentRef]) -> Mapping[DocumentRef, str]:
    """Read the titles of documents, in batches."""
    found: dict[DocumentRef, str] = {}
    for start in range(0, len(names), NAMES_AT_ONCE):
        found |= titles(engine, names[start : start + NAMES_AT_ONCE])
    return found


def review_groups(
    engine: Engine, tags: Tags, groups: Iterable[Members], kind: Literal["group", "thread"]
) -> Iterator[ReviewedGroup]:
    """Yield groups with the tags of each readable document."""
    remaining = iter(groups)
    while batch := list(islice(remaining, AT_ONCE)):
        contents = read_contents(engine, {name for _, members in batch for name in members})
        for lead, members in batch:
            readable = [name for name in (lead, *members) if name in contents]
            documents = [
                ReviewedDocument(name, contents[name], read_state(tags, name, contents[name]))
                for name in dict.fromkeys(readable)
            ]
            if documents:
                yield ReviewedGroup(documents[0].name, documents, kind)


def groups_of(groups: IndexGroups, names: set[DocumentRef]) -> Iterator[Members]:
    """Yield the groups of an index that contain any of the documents."""
    lead = groups.grouping.lead
    wanted = {int(lead[row]) for row, name in enumerate(groups.names) if name in names}
    rows = np.flatnonzero(np.isin(lead, sorted(wanted)))
    ordered = rows[np.argsort(lead[rows], kind="stable")].tolist()
    for first, members in groupby(ordered, key=lambda row: int(lead[row])):
        yield groups.names[first], [groups.names[row] for row in members]


def stored_groups_of(engine: Engine, names: set[DocumentRef]) -> Iterator[Members]:
    """Yield the stored groups that contain any of the documents."""
    store, ordered = engine.groups(), sorted(names)
    slices = (ordered[start : start + NAMES_AT_ONCE] for start in range(0, len(ordered), NAMES_AT_ONCE))
    wanted = dict.fromkeys(each.group for some in slices for each in store.read(some))
    groups = iter(wanted)
    while batch := list(islice(groups, AT_ONCE)):
        members: defaultdict[str, list[DocumentRef]] = defaultdict(list)
        for each in (each for part in store.members(batch) for each in part):
            name = (each.name.index, each.name.id)
            members[each.group].insert(0 if each.lead else len(members[each.group]), name)
        yield from ((members[group][0], members[group]) for group in batch if members[group])


def threads_of(engine: Engine, names: set[DocumentRef], progress: Callable[[int], None]) -> Iterator[Members]:
    """Yield the threads that contain any of the documents, by reading the whole index."""
    ids = {id_ for _, id_ in names}
    rows = index_threads(engine, progress).rows
    wanted = {row.thread for row in rows if row.id in ids}
    for thread, mails in groupby((row for row in rows if row.thread in wanted), key=lambda row: row.thread):
        found = find_names(engine, [mail.id for mail in mails])
        yield next((name for name in found if name[1] == thread), found[0]), found
