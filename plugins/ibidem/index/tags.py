"""Tags of an index: added to documents, groups or threads in one step, read, and exported as a table."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ibidem.index.documents import fetch_hits
from ibidem.index.inspection import inspect
from ibidem.index.threads import index_threads
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.tags import (
    MAX_DOCUMENTS,
    Action,
    Kind,
    LastEntry,
    TagEntry,
    TaggedDocument,
    Tags,
    has_changed,
    read_tag,
)
from ibidem_engines.engine import Engine
from ibidem_engines.stored_tags import append_entry, load_tags
from ibidem_ingest.errors import MissingDocument, UsageError
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import unpack

SEE = "find ids with: ibidem search QUERY"


@dataclass(frozen=True, slots=True)
class TagTarget:
    """The documents to tag in one step."""

    names: Sequence[DocumentRef]  # index and id of its documents
    kind: Kind = "document"  # documents that were named, a group of duplicates, or a thread
    lead: DocumentRef | None = None  # the first document of the group or thread

    def check_count(self, seen: int) -> None:
        """Refuse a target that differs from what a reviewer saw."""
        if seen != len(self.names):
            raise UsageError(
                f"the {self.kind} has {len(self.names):,} documents now, and had {seen:,} when it was shown",
                "nothing was tagged: look at it again",
            )


def find_named(engine: Engine, ids: Sequence[str]) -> TagTarget:
    """Return documents by id."""
    indices_by_id: dict[str, list[str]] = {id_: [] for id_ in ids}
    for hit in fetch_hits(engine, list(indices_by_id)):
        indices_by_id[hit.id].append(hit.index)
    if missing := [id_ for id_, indices in indices_by_id.items() if not indices]:
        raise MissingDocument(f"no document {', '.join(map(repr, missing))} in index {engine.index!r}", SEE)
    for id_, indices in indices_by_id.items():
        if len(indices) > 1:
            some = ", ".join(sorted(indices))
            raise UsageError(f"document {id_!r} is in several indexes: {some}", "name one of them in IBIDEM_INDEX")
    return TagTarget([(indices[0], id_) for id_, indices in indices_by_id.items()])


def find_duplicates(engine: Engine, id_: str, policy: Policy | None = None) -> TagTarget:
    """Return a document and its duplicates in the whole index, as `ibidem inspect` lists them."""
    (lead,) = find_named(engine, [id_]).names
    inspection = inspect(engine, id_, policy)
    if inspection.capped:
        raise UsageError(
            f"too many documents share the {', '.join(inspection.capped)} of {id_!r}: duplicates may be missing",
            "nothing was tagged: name the documents",
        )
    return TagTarget([lead, *((each.index, each.id) for each in inspection.duplicates)], "group", lead)


def find_thread(engine: Engine, id_: str) -> TagTarget:
    """Return all mails of a mail's thread, by reading the whole index."""
    find_named(engine, [id_])
    rows = index_threads(engine).rows
    thread = next((row.thread for row in rows if row.id == id_), None)
    if thread is None:
        raise UsageError(f"document {id_!r} is not a mail", "tag it without its thread")
    target = find_named(engine, [row.id for row in rows if row.thread == thread])
    return TagTarget(target.names, "thread", next(name for name in target.names if name[1] == thread))


def change_tag(  # noqa: PLR0913 - what an entry holds, by name
    engine: Engine, target: TagTarget, tag: str, *, action: Action = "add", author: str = "", reason: str = ""
) -> TagEntry:
    """Add a tag to the documents of a target, or take it back, in one entry of the ledger."""
    tag = read_tag(tag)
    if not 0 < len(target.names) <= MAX_DOCUMENTS:
        raise UsageError(
            f"{len(target.names):,} documents are too {'many' if target.names else 'few'} for one step",
            f"tag from one to {MAX_DOCUMENTS:,} at once",
        )
    contents = read_contents(engine, target.names)
    if missing := [name for name in target.names if name not in contents]:
        raise MissingDocument(f"no document {missing[0][1]!r} in index {missing[0][0]!r}", SEE)
    entry = TagEntry(
        tag,
        action,
        tuple(TaggedDocument(*name, contents[name]) for name in dict.fromkeys(target.names)),
        author,
        datetime.now(UTC).isoformat(timespec="microseconds"),
        target.kind,
        target.lead,
        reason,
    )
    append_entry(engine, entry)
    return entry


def read_contents(engine: Engine, names: Iterable[DocumentRef]) -> dict[DocumentRef, str]:
    """Read the content hashes of existing, readable documents; empty for documents without signatures."""
    wanted = set(names)
    contents = {}
    for hit in fetch_hits(engine, sorted({id_ for _, id_ in wanted})):
        packed = unpack(hit.packed) if hit.packed is not None else None
        contents[hit.index, hit.id] = "" if packed is None else content_key(packed)
    return {name: contents[name] for name in contents if name in wanted}


@dataclass(frozen=True, slots=True)
class TagState:
    """The tags of a document, and whether they are valid for its current text."""

    entries: Mapping[str, LastEntry]  # the last entry of each of its tags
    # Whether its text is another one than the one that was tagged, so that it is to be tagged again.
    changed: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        """The valid tags of the document; none if its text has changed."""
        return () if self.changed else tuple(self.entries)

    @property
    def state(self) -> Literal["tagged", "untagged", "changed"]:
        """State of the tags: some, none, or outdated since the text changed."""
        if not self.entries:
            return "untagged"
        return "changed" if self.changed else "tagged"


def read_state(tags: Tags, name: DocumentRef, content: str) -> TagState:
    """Return the state of a document's tags."""
    entries = tags.standing(name)
    return TagState(entries, any(has_changed(last.content, content) for last in entries.values()))


def read_states(engine: Engine, names: Collection[DocumentRef]) -> dict[DocumentRef, TagState]:
    """Read the states of the tags of some documents; documents without tags are omitted."""
    tags = load_tags(engine, set(names))
    tagged = [name for name in names if tags.standing(name)]
    return {name: read_state(tags, name, content) for name, content in read_contents(engine, tagged).items()}


def readable_tags(engine: Engine, date: str = "") -> Tags:
    """Return the entries, reduced to documents that may be read with the engine's rights.

    A document that is gone cannot be told from one that may not be read, so both are left out; `load_tags` has all.
    """
    tags = load_tags(engine, date=date)
    known = read_contents(engine, tags.names)
    return Tags(part for entry in tags.entries if (part := entry.among(known.keys())) is not None)


Row = Mapping[str, Any]

# Columns of the ledger as a table.
COLUMNS = ("date", "author", "tag", "action", "index", "id", "state", "kind", "lead", "reason", "content")


def ledger_rows(engine: Engine, tags: Tags) -> Iterator[Row]:
    """Yield a row for each document of each entry, in order of time.

    `state` says what has become of it: `current`, `replaced` by a later entry, `changed` (the text of the document is
    another one by now) or `gone` (the document is).
    """
    contents = read_contents(engine, tags.names)
    for entry, document in tags.rows():
        yield {
            "date": entry.date,
            "author": entry.author,
            "tag": entry.tag,
            "action": entry.action,
            "index": document.index,
            "id": document.id,
            "state": _row_state(tags, entry, document, contents.get(document.name)),
            "kind": entry.kind,
            "lead": "" if entry.lead is None else entry.lead[1],
            "reason": entry.reason,
            "content": document.content,
        }


def _row_state(tags: Tags, entry: TagEntry, document: TaggedDocument, content: str | None) -> str:
    if content is None:
        return "gone"
    if not tags.holds(entry, document.name):
        return "replaced"
    return "changed" if has_changed(document.content, content) else "current"
