"""Identity of an index: the same under each of its names.

Records are kept next to the one index behind a name, or next to an alias of several indexes. They are read under all of
these names, and the names of indexes inside them are those of the indexes themselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ibidem_dedupe.overrides import pair_key
from ibidem_engines.engine import Ledger


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A stored record."""

    source: str  # the index or alias that it is stored next to
    key: str
    entry: Any  # its JSON, possibly damaged by another program


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of an index, or of several indexes that are searched together."""

    asked: tuple[str, ...]  # the names that it was reached by
    indices: tuple[str, ...] = ()  # the indexes' own names; empty if there is none
    # The indexes behind each alias and data stream, as far as they are among `indices`.
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    streams: Mapping[str, str] = field(default_factory=dict)  # the data stream of each index that is of one
    kept: str = ""  # the name next to which records are written; empty: it is derived from the other names (`home`)

    @property
    def home(self) -> str:
        """The name next to which records are written; a data stream's own name, even if it has aliases.

        >>> IndexNames(("news",), ("news-2",), {"news": ("news-2",)}).home
        'news-2'
        >>> IndexNames(("news",), ("news-1", "news-2"), {"news": ("news-1", "news-2")}).home
        'news'
        >>> IndexNames(("alias",), (".ds-logs-1",), {"logs": (".ds-logs-1",)}, {".ds-logs-1": "logs"}).home
        'logs'
        """
        if self.kept:
            return self.kept
        owners = {self.streams.get(index, index) for index in self.indices}
        return owners.pop() if len(owners) == 1 else self.asked[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names next to which records may be stored, the nearest first."""
        own = (each for each in self.indices if each not in self.streams)
        return tuple(dict.fromkeys([*([self.home] if self.asked else ()), *self.asked, *own, *sorted(self.aliases)]))

    def keep(self, home: str) -> "IndexNames":
        """Return the same names, with records stored next to one of them."""
        return replace(self, kept=home)

    def covers(self, source: str, index: str) -> bool:
        """Return whether a name covers an index."""
        return source == index or index in self.aliases.get(source, ())

    def own_records(self, ledger: Ledger, records: Iterable[StoredRecord]) -> dict[str, Any]:
        """Return records by key, under the concrete names of indexes; of duplicate keys, the nearest record."""
        ranks = {source: rank for rank, source in enumerate(self.sources)}
        best: dict[str, tuple[tuple[int, bool], Any]] = {}
        for record in records:
            for key, entry in self.own_entries(ledger, record):
                rank = ranks.get(record.source, len(ranks)), key != record.key
                if key not in best or rank < best[key][0]:
                    best[key] = rank, entry
        return {key: entry for key, (_, entry) in sorted(best.items())}

    def own_entries(self, ledger: Ledger, record: StoredRecord) -> Iterator[tuple[str, Any]]:
        """Yield a record under concrete index names, once for each index that its name may mean."""
        source = record.source
        if source in self.indices:
            yield rename(ledger, record.key, record.entry, lambda name: name if name in self.indices else source)
            return
        renamed = {
            rename(ledger, record.key, record.entry, {source: index}.get)[0]: index
            for index in self.aliases.get(source, ())
        }
        for index in renamed.values():
            yield rename(ledger, record.key, record.entry, {source: index}.get)
        if not renamed:
            yield record.key, record.entry

    def raw_keys(self, ledger: Ledger, keys: Iterable[str], records: Iterable[StoredRecord]) -> list[str]:
        """Return the stored keys of records that `own_records` returned."""
        wanted = set(keys)
        return [each.key for each in records if any(key in wanted for key, _ in self.own_entries(ledger, each))]


def rename(ledger: Ledger, key: str, entry: Any, new_name: Callable[[str], str | None]) -> tuple[str, Any]:
    """Return a record with its indexes renamed; damaged records and records without indexes are unchanged.

    >>> rename("alerts", "reported:a:1", {"index": "news-1", "id": "x"}, {"news-1": "news-2"}.get)
    ('reported:a:1', {'index': 'news-2', 'id': 'x'})
    """
    if not isinstance(entry, dict):
        return key, entry
    if ledger == "alerts" and isinstance(entry.get("index"), str):
        return key, entry | {"index": new_name(entry["index"]) or entry["index"]}
    if ledger == "overrides" and _is_document(entry.get("a")) and _is_document(entry.get("b")):
        pair = [[new_name(index) or index, id_] for index, id_ in (entry["a"], entry["b"])]
        return pair_key(pair), entry | {"a": pair[0], "b": pair[1]}
    if ledger == "tags" and isinstance(entry.get("documents"), list):
        lead: Any = entry.get("lead")
        return key, entry | {
            "documents": [_renamed(each, new_name) for each in entry["documents"]],
            "lead": [new_name(lead[0]) or lead[0], lead[1]] if _is_document(lead) else lead,
        }
    return key, entry


def _renamed(document: Any, new_name: Callable[[str], str | None]) -> Any:
    """Replace the index name in a document of an entry; other values are unchanged."""
    if not isinstance(document, dict) or not isinstance(document.get("index"), str):
        return document
    name = new_name(document["index"]) or document["index"]
    return document if name == document["index"] else document | {"index": name}


def _is_document(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)
