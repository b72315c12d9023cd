"""New index that replaces another: created with the same mapping, filled, and given the alias."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from typing_extensions import override

from ibidem_core.address import OURS
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster import record_index
from ibidem_engines.cluster.bulk import CONFLICT, Action, ActionOutcome, State, run
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.sequence_numbers import NONE, newest, states, write_order
from ibidem_engines.cluster.source import with_signatures
from ibidem_engines.cluster.source_storage import BY_VERSION, effective_settings
from ibidem_engines.cluster.stored_version import check_each, read_versions
from ibidem_engines.cluster.whole_documents import count_fields
from ibidem_engines.cluster.write import ROUNDS, refused_field
from ibidem_engines.engine import FieldCounts, Outcome, ReindexTarget, Signed, SourceDocument, WriteStatus
from ibidem_engines.records import UnstorableRecord, values_of_records
from ibidem_engines.requests import ApiRequest, answer_to, quote_index
from ibidem_engines.stored_groups import IndexNames, Marks, Name, SeqNoRange, ShardRef
from ibidem_ingest.errors import UsageError

SLICE = 1_000

# Settings that belong to an index itself and cannot be given to another.
ITS_OWN = ("uuid", "creation_date", "provided_name", "version", "resize", "routing", "history", "blocks", "shard_limit")

# Settings that a copy gets when it is full: what its documents went through once, they do not go through again.
LATER = ("default_pipeline", "final_pipeline", "refresh_interval")

# Options that an alias keeps when it moves.
OF_AN_ALIAS = ("filter", "index_routing", "search_routing", "is_write_index", "is_hidden")

COPY_OF = "copy_of"  # in the metadata of a copy's mapping: the index that it is made of, from its very creation on

TRIAL_OF = "ibidem_trial_of"  # in the metadata of a trial index's mapping: the index that it is like

TRIAL_MS = 3_600_000  # milliseconds after which a trial index was left by a process that was killed

_MISSING = 404


@dataclass(frozen=True, slots=True)
class _CopyBase:
    """The condition under which a copy is written, and the version of the copy."""

    verb: str  # `create` where there must be no document, else `index`
    condition: tuple[int, int] | None = None  # the state that must be there
    version: int | None = None  # the engine's own version it is to have; a stored document must not have a later one

    @classmethod
    def state(cls, condition: tuple[int, int] | None) -> "_CopyBase":
        """Return the condition: the read version, or that no document exists."""
        return cls("index" if condition else "create", condition)


class ClusterReindexTarget(ReindexTarget):
    """The copy of one index; see `Copy`."""

    def __init__(self, cluster: ClusterClient, source: str, name: str, kind: str) -> None:
        self.name = name
        self._cluster, self._source, self._kind = cluster, source, kind
        self._parts: list[ShardRef] = []

    @override
    def exists(self) -> bool:
        return bool(layout.read(self._cluster, self.name).indices)

    @override
    def is_unfilled(self) -> bool:
        (metadata,) = self._cluster.ask("GET", f"/{self.name}/_mapping").values()
        made_as = metadata["mappings"].get("_meta", {}).get(OURS, {}).get(COPY_OF)
        return made_as == self._source and not any(self.newest().values())

    @override
    def create(self, *, with_fields: bool = True) -> None:
        """Create the index with fields, analyzers and settings of the old one, with or without `ibidem`."""
        if not with_fields:
            self._create_bare()
            return
        settings, mappings = self._read_source()
        own_mappings = layout.template(self._kind)
        own_meta = {OURS: own_mappings["mappings"]["_meta"][OURS] | {COPY_OF: self._source}}
        mapping = mappings | {"_meta": mappings.get("_meta", {}) | own_meta}
        mapping["properties"] = mappings.get("properties", {}) | {
            "ibidem": own_mappings["mappings"]["properties"]["ibidem"]
        }
        # A part left out of `_source` makes the server write the rest in another order: documents of others stay as
        # they are, unless the lean layout is asked for.
        if mapping.pop("_source", None) or self._kind == "lean":
            mapping["_source"] = own_mappings["mappings"]["_source"]
        codec = (
            {"codec": own_mappings["settings"]["index"]["codec"]}
            if "codec" in own_mappings["settings"]["index"]
            else {}
        )
        if not self.exists():
            body = {"settings": {"index": codec | _early(settings)}, "mappings": mapping}
            self._cluster.ask("PUT", f"/{self.name}", body)
        LedgerStore(self._cluster, IndexNames((self.name,), (self.name,))).create()

    def _create_bare(self, **settings: object) -> None:
        """Create the index without our fields, and with additional settings."""
        settings_there, mappings = self._read_source()
        mapping = _strip_mapping(mappings)
        mapping["_meta"] |= {TRIAL_OF: self._source} if "hidden" in settings else {}
        body = {"settings": {"index": _early(settings_there) | settings}, "mappings": mapping}
        self._cluster.ask("PUT", f"/{self.name}", body)

    def create_trial(self) -> None:
        """Create the index without our fields, hidden from patterns, and without aliases from templates."""
        self._create_bare(hidden=True)
        self._cluster.hold(answer_to(ApiRequest("DELETE", f"/{self.name}/_alias/*", ok_statuses=(_MISSING,))))

    def drop(self) -> None:
        """Delete the index with its ledgers, if it exists."""
        self._cluster.ask("DELETE", f"/{self.name}", ignore_unavailable="true")
        record_index.drop(self._cluster, [self.name])

    @override
    def take(self, documents: Sequence[Signed]) -> list[Outcome]:
        """Write documents with the engine's own version of each, so that an older version never wins."""
        return self._write(documents, lambda document: _CopyBase("index", version=document.engine_version))

    @override
    def newest(self) -> dict[ShardRef, int]:
        return newest(self._cluster, self._shards())

    @override
    def count_fields(self) -> FieldCounts:
        return count_fields(self._cluster, self.name)

    @override
    def prune(self, end: Marks) -> int:
        removed_count = 0
        for part, max_seq_no in end.items():
            for batch in self._slices(part, max_seq_no):
                ids = self._missing_ids([name for name, _ in batch])
                deletions = [(name, state) for name, state in batch if name.id in ids]
                actions = [Action("delete", self.name, name.id, None, state, name.routing) for name, state in deletions]
                removed_count += sum(
                    outcome.status not in (CONFLICT, _MISSING) for outcome in run(self._cluster, actions)
                )
        return removed_count

    @override
    def check_alias(self, alias: str) -> None:
        if alias in layout.read(self._cluster, alias).indices:
            raise UsageError(f"{alias!r} is an index, so it cannot be an alias", "name another with --alias")

    @override
    def finish(self, alias: str) -> None:
        """Move the alias in one step, so that every search finds one of the two indexes."""
        settings, _ = self._read_source()
        late_settings: dict[str, Any] = {name: settings.get(name) for name in LATER}
        self._cluster.ask("PUT", f"/{self.name}/_settings", {"index": late_settings})
        if alias:
            self._move(alias)

    @override
    def take_late(self, documents: Sequence[Signed], end: Marks) -> list[Outcome]:
        ids = [document.name.id for document, _ in documents]
        current_states = {
            name.id: state
            for part, max_seq_no in end.items()
            for name, state in states(self._cluster, SeqNoRange(part, NONE, max_seq_no), max(1, len(ids)), ids)
        }
        outcomes = self._write(documents, lambda document: _CopyBase.state(current_states.get(document.name.id)))
        return self._replace_older(documents, outcomes)

    def _replace_older(self, documents: Sequence[Signed], outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Write copies over older versions; documents of other programs have no version and are kept."""
        found = list(outcomes)
        for _ in range(ROUNDS):
            stale = {
                document.name.id: position
                for position, (document, _) in enumerate(documents)
                if found[position].status is WriteStatus.STALE and document.version
            }
            stored = read_versions(self._cluster, (self.name,), list(stale)) if stale else {}
            older = [
                position
                for id_, position in stale.items()
                if id_ in stored and (stored[id_].version or inf) < documents[position][0].version
            ]
            if not older:
                break
            replaced = self._write(
                [documents[position] for position in older],
                lambda document, there=stored: _CopyBase.state(there[document.name.id].state),  # type: ignore[misc]
            )
            for position, outcome in zip(older, replaced, strict=True):
                found[position] = outcome
        return found

    def _write(
        self, documents: Sequence[Signed], choose_base: Callable[[SourceDocument], "_CopyBase"]
    ) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        actions: dict[int, Action] = {}
        values = iter(values_of_records([record for _, record in documents if record is not None]))
        for position, (document, record) in enumerate(documents):
            record_values = None if record is None else next(values)
            try:
                body = (
                    document.raw if record is None else with_signatures(document.raw, record, self._kind, record_values)
                )
            except UnstorableRecord as unfit:
                outcomes[position] = Outcome(document.name.id, WriteStatus.REFUSED, field=unfit.field, why=unfit.why)
                body = document.raw
            base, name = choose_base(document), document.name
            actions[position] = Action(base.verb, self.name, name.id, body, base.condition, name.routing, base.version)
        for position, outcome in zip(actions, run(self._cluster, list(actions.values())), strict=True):
            outcomes.setdefault(position, _outcome(documents[position][0], outcome))
        return [outcomes[position] for position in range(len(documents))]

    def _move(self, alias: str) -> None:
        """Move an alias to the copy, unchanged and in one step."""
        request = ApiRequest("GET", f"/_alias/{quote_index(alias)}", ok_statuses=(_MISSING,))
        definition: Mapping[str, Any] = self._cluster.hold(answer_to(request))
        was = [metadata["aliases"][alias] for metadata in definition.values()]
        properties = {name: value for name, value in (was[0] if was else {}).items() if name in OF_AN_ALIAS}
        actions = [{"remove": {"index": index, "alias": alias}} for index in definition if index != self.name]
        actions.append({"add": {"index": self.name, "alias": alias, **properties}})
        self._cluster.ask("POST", "/_aliases", {"actions": actions})

    def _read_source(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the settings and the mapping of the index that is copied."""
        (metadata,) = self._cluster.ask("GET", f"/{quote_index(self._source)}").values()
        settings = {name: value for name, value in metadata["settings"]["index"].items() if name not in ITS_OWN}
        (effective,) = effective_settings(self._cluster, self._source).values()
        settings |= {name.removeprefix("index."): effective[name] for name in BY_VERSION if name in effective}
        return settings, metadata["mappings"]

    def _shards(self) -> list[ShardRef]:
        if not self._parts:
            shards = layout.read(self._cluster, self.name).shard_counts[self.name]
            self._parts = [ShardRef(self.name, shard) for shard in range(shards)]
        return self._parts

    def _slices(self, part: ShardRef, max_seq_no: int) -> Iterator[list[State]]:
        position = NONE
        while batch := states(self._cluster, SeqNoRange(part, position, max_seq_no), SLICE):
            yield batch
            position = batch[-1][0].order

    def _missing_ids(self, names: Sequence[Name]) -> set[str]:
        """Return the ids of documents that the old index no longer has."""
        docs = [{"_id": name.id} | ({"routing": name.routing} if name.routing else {}) for name in names]
        answer = self._cluster.ask("POST", f"/{quote_index(self._source)}/_mget", {"docs": docs}, _source="false")
        check_each(answer["docs"], self._cluster.label)
        return {each["_id"] for each in answer["docs"] if not each.get("found")}


def old_trials(cluster: ClusterClient, prefix: str) -> list[str]:
    """Return the trial indexes with a prefix whose processes were killed."""
    parts = "*.settings.index.creation_date,*.mappings._meta"
    found = cluster.ask("GET", f"/{quote_index(prefix)}*", expand_wildcards="all", filter_path=parts)
    return [
        name
        for name, each in found.items()
        if TRIAL_OF in each.get("mappings", {}).get("_meta", {})
        and time.time() * 1_000 - int(each["settings"]["index"]["creation_date"]) > TRIAL_MS
    ]


def _early(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a copy while it is filled; pipelines are set, since a template may add some."""
    early = {name: value for name, value in settings.items() if name not in LATER}
    return early | dict.fromkeys(("default_pipeline", "final_pipeline"), "_none")


def _strip_mapping(mappings: Mapping[str, Any]) -> dict[str, Any]:
    """Remove ibidem's fields from a mapping."""
    source = mappings.get("_source", {})
    excludes = [field for field in source.get("excludes", []) if not field.startswith(f"{OURS}.")]
    remaining = {name: value for name, value in source.items() if name != "excludes"}
    return dict(mappings) | {
        "_meta": {name: value for name, value in mappings.get("_meta", {}).items() if name != OURS},
        "_source": remaining | ({"excludes": excludes} if excludes else {}),
        "properties": {name: value for name, value in mappings.get("properties", {}).items() if name != OURS},
    }


def _outcome(document: SourceDocument, outcome: ActionOutcome) -> Outcome:
    name = document.name.id
    if outcome.status == CONFLICT:
        return Outcome(name, WriteStatus.STALE, why="a newer one exists")
    if outcome.reason:
        return Outcome(name, WriteStatus.REFUSED, field=refused_field(outcome.reason), why=outcome.reason)
    return Outcome(name, WriteStatus.INDEXED, write_order(outcome.place))
