"""Tags, as stored next to an index: each entry has its own key, so that none is ever replaced."""

from collections.abc import Collection
from secrets import token_hex
from typing import Any

from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.tags import TagEntry, Tags
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import read_entries


def load_tags(engine: Engine, names: Collection[DocumentRef] | None = None, date: str = "") -> Tags:
    """Read entries, in order of time."""
    records = engine.get_records("tags", f"{date}/" if date else "")
    if names is not None:  # most entries are about other documents, and searching the text is faster than parsing it
        records = ((key, record) for key, record in records if _is_about(record, names))
    return Tags(entry for _, entry in read_entries(records, TagEntry.from_record))


def _is_about(record: Any, names: Collection[DocumentRef]) -> bool:
    """Return whether a record, possibly damaged, names any of the documents."""
    documents = record.get("documents") if isinstance(record, dict) else None
    return isinstance(documents, list) and any(
        isinstance(each, dict) and (str(each.get("index")), str(each.get("id"))) in names for each in documents
    )


def append_entry(engine: Engine, entry: TagEntry) -> None:
    """Store an entry under a new key."""
    engine.put_records("tags", {f"{entry.date}/{token_hex(8)}": entry.as_record()})
