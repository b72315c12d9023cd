"""TTL cache of each client: index metadata for a minute, manual overrides for seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ibidem.grouped_search.backend import UNKNOWN, IndexState
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import Preset
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cluster import records as ledgers
from ibidem_engines.cluster import search
from ibidem_engines.cluster.collapse import CountResult, read_coverage
from ibidem_engines.cluster.index import Layout, pipeline_fault, read_layout, schema_fault
from ibidem_engines.ledger import KEY, GroupCheckpoint, checkpoint_of, read_entries, read_preset
from ibidem_engines.requests import ALIAS_S, COUNTS_S, INDEX_S, RequestFlow, Target, TtlCache
from ibidem_engines.stored_groups import Coverage, IndexNames, parse_marks
from ibidem_ingest.errors import UsageError

WORDS_S = 5.0  # seconds after which a manual decision counts for everybody

NAMES = ("ignore_unavailable", "allow_no_indices")  # parameters that say which indexes a name means

NO_LAYOUT = Layout((), frozenset(), {}, (), {}, 10_000, ())


@dataclass(slots=True)
class IndexMetadataCache:
    """TTL cache of index metadata and manual decisions; one per client."""

    layouts: TtlCache[str, Layout] = field(default_factory=TtlCache)
    stored_presets: TtlCache[str, Mapping[str, Preset]] = field(default_factory=TtlCache)
    decisions: TtlCache[str, Sequence[Override]] = field(default_factory=TtlCache)
    checkpoints: TtlCache[str, Sequence[GroupCheckpoint]] = field(default_factory=TtlCache)
    coverages: TtlCache[str, Coverage] = field(default_factory=TtlCache)
    points: TtlCache[str, str] = field(default_factory=TtlCache)
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

    def settlement(self, names: IndexNames) -> RequestFlow[Sequence[GroupCheckpoint]]:
        """Return how far the groups of indexes are settled, and by which rule: one record for each set of indexes."""
        key = cache_key(names)
        if (checkpoints := self.checkpoints.get(key)) is not None:
            return checkpoints
        entries = (yield from ledgers.read_record(names, "groups", KEY)) if names.sources else []
        return self.checkpoints.put(key, list(map(checkpoint_of, entries)), WORDS_S)

    def state(self, target: Target, layout: Layout, request: DedupeRequest) -> RequestFlow[IndexState]:
        """Return what decides on the way of a search, but for manual decisions."""
        names = layout_names(target.index, layout)
        checkpoints = yield from self.settlement(names)
        if request.by == "stored":
            check_settled_as_one(checkpoints, layout)
        if layout.beside:
            return IndexState(checkpoints[0] if len(checkpoints) == 1 else GroupCheckpoint(), is_beside=True)
        if len(checkpoints) != 1:
            return UNKNOWN
        if request.by == "window" or not checkpoints[0].done:
            return IndexState(checkpoints[0])
        key = repr((cache_key(names), target.params, checkpoints[0].done))
        if (coverage := self.coverages.get(key)) is None:
            coverage = yield from read_coverage(target, layout, parse_marks(checkpoints[0].done))
            self.coverages.put(key, coverage, COUNTS_S)
        return IndexState(checkpoints[0], coverage)

    def point_indices(self, target: Target) -> RequestFlow[str]:
        """Return the names of the indexes of a point in time."""
        key = repr(target.point)
        if (names := self.points.get(key)) is None:
            answer = yield target.search(
                {"size": 0, "aggs": {"indices": {"terms": {"field": "_index", "size": 1_000}}}}
            )
            buckets = answer.get("aggregations", {}).get("indices", {}).get("buckets", ())
            names = self.points.put(key, ",".join(sorted(each["key"] for each in buckets)))
        return names

    def presets(self, names: IndexNames) -> RequestFlow[Mapping[str, Preset]]:
        key = cache_key(names)
        presets = self.stored_presets.get(key) if names.sources else {}
        if presets is not None:
            return presets
        entries = yield from ledgers.read_records(names, "presets")
        return self.stored_presets.put(key, dict(read_entries(entries.items(), read_preset)), WORDS_S)

    def plugin(self) -> RequestFlow[bool]:
        return search.may_use_plugin(self.plugins, "")

    def overrides(self, names: IndexNames) -> RequestFlow[Sequence[Override]]:
        """Return the manual decisions stored next to each index."""
        key = cache_key(names)
        cached = self.decisions.get(key) if names.sources else ()
        if cached is not None:
            return cached
        overrides = yield from ledgers.read_records(names, "overrides")
        words = [word for _, word in read_entries(overrides.items(), Override.from_record)]
        return self.decisions.put(key, words, WORDS_S)


def check_settled_as_one(checkpoints: Sequence[GroupCheckpoint], layout: Layout) -> None:
    """Refuse indexes whose groups are unrelated, or that have none."""
    if layout.bare and not layout.beside:
        raise UsageError(
            f"dedupe_by=stored cannot be combined with {', '.join(layout.bare)}: no groups are stored there",
            "sign it with: ibidem backfill",
        )
    if len(checkpoints) > 1:
        raise UsageError(
            "dedupe_by=stored cannot be combined with indexes whose groups are settled separately",
            "search each separately, or settle them as one by an alias of all: ibidem regroup --all",
        )


def read_names(index: str) -> list[str]:
    """Return the full names of the searched indexes, without patterns and excluded names.

    >>> read_names("news,old-*,-old-7")
    ['news']
    """
    return [name for name in index.split(",") if name and name[0] not in "-<" and "*" not in name and name != "_all"]


def layout_names(index: str, layout: Layout) -> IndexNames:
    return layout.names(*read_names(index))


def cache_key(names: IndexNames) -> str:
    return repr((names.asked, names.indices))
