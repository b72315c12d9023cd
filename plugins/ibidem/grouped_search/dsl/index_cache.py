"""TTL cache of each client: index metadata for a minute, manual overrides for seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import Preset
from ibidem_engines.cluster import ledger_search as ledgers
from ibidem_engines.cluster import plugin
from ibidem_engines.cluster.index import Layout, pipeline_fault, read_layout, schema_fault
from ibidem_engines.cluster.ledger_search import LedgerQuery
from ibidem_engines.cluster.match_counts import CountResult
from ibidem_engines.cursor import KEY as CURSOR_KEY
from ibidem_engines.group_checkpoint import KEY, GroupCheckpoint, checkpoint_of
from ibidem_engines.ledger import read_entries
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import IndexNames
from ibidem_engines.stored_presets import read_preset
from ibidem_engines.ttl_cache import ALIAS_S, INDEX_S, TtlCache
from ibidem_ingest.errors import UsageError

WORDS_S = 5.0  # seconds after which a manual decision counts for everybody

NAMES = ("ignore_unavailable", "allow_no_indices")  # parameters that say which indexes a name means

NOWHERE = Layout((), frozenset(), {}, (), {}, 10_000, ())


SEARCH_RECORDS = (LedgerQuery("overrides"), LedgerQuery("runs", CURSOR_KEY))  # records that every search needs


@dataclass(frozen=True, slots=True)
class SearchRecords:
    """Records next to indexes that every search needs."""

    overrides: Sequence[Override] = ()  # manual decisions
    cursor_key: bytes = field(default=b"", repr=False)  # the key of cursors; empty if there is none


@dataclass(slots=True)
class IndexMetadataCache:
    """TTL cache of index metadata and manual decisions; one per client."""

    layouts: TtlCache[str, Layout] = field(default_factory=TtlCache)
    stored_presets: TtlCache[str, Mapping[str, Preset]] = field(default_factory=TtlCache)
    records: TtlCache[str, SearchRecords] = field(default_factory=TtlCache)
    checkpoints: TtlCache[str, GroupCheckpoint] = field(default_factory=TtlCache)
    plugins: TtlCache[str, bool] = field(default_factory=TtlCache)
    counts: TtlCache[str, CountResult] = field(default_factory=TtlCache)

    def layout(self, index: str, params: Mapping[str, str]) -> RequestFlow[Layout]:
        """Return the layout of indexes; indexes whose hits cannot be grouped are refused."""
        selection = {name: params[name] for name in NAMES if name in params}
        key = repr((index, sorted(selection.items())))
        if (cached := self.layouts.get(key)) is not None:
            return cached
        layout = yield from read_layout(index, selection, ok_statuses=(403, 404))
        if fault := schema_fault(layout) or (
            yield from pipeline_fault([name for name in layout.pipelines if name != "_none"])
        ):
            raise UsageError(*fault)
        is_alias = not set(layout.indices) >= set(read_names(index))
        return self.layouts.put(key, layout, ALIAS_S if is_alias else INDEX_S)

    def settlement(self, names: IndexNames) -> RequestFlow[GroupCheckpoint]:
        """Return how far the groups of indexes are settled, and under which policy."""
        key = cache_key(names)
        if (checkpoint := self.checkpoints.get(key)) is not None:
            return checkpoint
        entries = (yield from ledgers.read_record(names, "groups", KEY)) if names.sources else []
        return self.checkpoints.put(key, only_checkpoint(list(map(checkpoint_of, entries))), WORDS_S)

    def presets(self, names: IndexNames) -> RequestFlow[Mapping[str, Preset]]:
        """Return the presets stored with indexes."""
        key = cache_key(names)
        presets = self.stored_presets.get(key) if names.sources else {}
        if presets is not None:
            return presets
        (entries,) = yield from ledgers.read_records(names, LedgerQuery("presets"))
        return self.stored_presets.put(key, dict(read_entries(entries.items(), read_preset)), WORDS_S)

    def plugin(self) -> RequestFlow[bool]:
        """Return whether the cluster's plugin may be used: every node has it, and no setting disables it."""
        if plugin.mode() == "off":
            return False
        if (version := self.plugins.get("")) is not None:
            return version
        return self.plugins.put("", plugin.has_same_plugin((yield from plugin.plugin_nodes())))

    def search_records(self, names: IndexNames) -> RequestFlow[SearchRecords]:
        """Return the manual decisions and the cursor key, stored next to each index, in one request."""
        key = cache_key(names)
        cached = self.records.get(key) if names.sources else SearchRecords()
        if cached is not None:
            return cached
        overrides, keys = yield from ledgers.read_records(names, *SEARCH_RECORDS)
        words = [word for _, word in read_entries(overrides.items(), Override.from_record)]
        return self.records.put(key, SearchRecords(words, ledgers.first_cursor_key(keys.values())), WORDS_S)


def only_checkpoint(checkpoints: Sequence[GroupCheckpoint]) -> GroupCheckpoint:
    """Return how far the groups of a search's indexes are settled."""
    if len(checkpoints) > 1:
        raise UsageError(
            "dedupe_by=stored cannot be combined with indexes whose groups are settled separately",
            "search each separately, or settle them as one by an alias of all: ibidem regroup --all",
        )
    return checkpoints[0] if checkpoints else GroupCheckpoint()


def read_names(index: str) -> list[str]:
    """Return the full names of the searched indexes, without patterns and excluded names.

    >>> read_names("news,old-*,-old-7")
    ['news']
    """
    return [name for name in index.split(",") if name and name[0] not in "-<" and "*" not in name and name != "_all"]


def layout_names(index: str, layout: Layout) -> IndexNames:
    """Return the names of a search's indexes."""
    return layout.names(*read_names(index))


def cache_key(names: IndexNames) -> str:
    """Return the cache key of records of the same indexes."""
    return repr((names.asked, names.indices))
