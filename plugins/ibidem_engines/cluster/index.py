"""Index creation, metadata and health: layout, schema, stems of the text, refresh, and sequence numbers of shards."""

import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import orjson
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from ibidem_core.address import OURS, Fields, read_path
from ibidem_core.errors import NoIndex, Permanent
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.client import FORBIDDEN, NOT_FOUND, ClusterClient, Failure, to_engine_error
from ibidem_engines.cluster.dsl import ALL, COUNTED, STATES, Clause, all_of, hits_of, ids_query, state_of, total_of
from ibidem_engines.engine import HealthIssue
from ibidem_engines.requests import ApiRequest, Json, RequestFlow, Target, quote_index
from ibidem_engines.stored_groups import IndexNames, Marks, Name, Parts, SeqNoRange, ShardRef
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_mappings import load

# The servers' own analyzers that reduce words to stems; the other languages' do not.
_LANGUAGE = re.compile(
    "arabic|armenian|basque|bengali|brazilian|bulgarian|catalan|czech|danish|dutch|english|estonian|finnish|french|"
    "galician|german|greek|hindi|hungarian|indonesian|irish|italian|latvian|lithuanian|norwegian|portuguese|romanian|"
    "russian|serbian|snowball|sorani|spanish|swedish|turkish"
)

# Types and names of the servers' own token filters that do.
_STEMMER = re.compile(r"stemmer|snowball|hunspell|kstem|\w+_stem(mer)?|\w+_snowball", re.ASCII)

_PATH = re.compile(r"[\w-]+(\.[\w-]+)*")


def metadata_parts(text: str) -> tuple[str, ...]:
    """Return the parts of an index's metadata that list stemmed fields; none if a path has special characters.

    >>> metadata_parts("body.content")[0]
    '*.mappings.properties.body.properties.content.fields'
    """
    if not _PATH.fullmatch(text):
        return ()
    path = text.replace(".", ".properties.")
    analysis = "*.settings.index.analysis"
    parts = ("analyzer.*.type", "analyzer.*.filter", "filter.*.type")
    return (f"*.mappings.properties.{path}.fields", *(f"{analysis}.{part}" for part in parts))


def stemmed_fields(metadata: Json, text: str) -> Iterator[str]:
    """Yield the stemmed sub-fields of a text.

    >>> english = {"english": {"type": "text", "analyzer": "english"}, "raw": {"type": "keyword"}}
    >>> list(stemmed_fields({"mappings": {"properties": {"body": {"fields": english}}}}, "body"))
    ['body.english']
    """
    fields = read_path(metadata, f"mappings.properties.{text.replace('.', '.properties.')}.fields")
    analysis = read_path(metadata, "settings.index.analysis")
    for name, each in fields.items() if isinstance(fields, Mapping) else ():
        if each.get("type") == "text" and _stems(each.get("analyzer", ""), analysis or {}):
            yield f"{text}.{name}"


def _stems(analyzer: str, analysis: Any) -> bool:
    """Return whether an analyzer stems words: a language analyzer, one based on it, or one with a stemming filter."""
    own = analysis.get("analyzer", {}).get(analyzer)
    if own is None:
        return bool(_LANGUAGE.fullmatch(analyzer))
    filters = own.get("filter", [])
    kinds = analysis.get("filter", {})
    names = [filters] if isinstance(filters, str) else filters
    return bool(_LANGUAGE.fullmatch(str(own.get("type", "")))) or any(
        _STEMMER.fullmatch(str(kinds.get(name, {}).get("type", name))) for name in names
    )


@dataclass(frozen=True, slots=True)
class MappedField:
    name: str  # its full name
    type: str  # as the mapping has it
    path: str  # where `_source` has its value: the field that it is a part of (`fields`), or the same as `name`
    nested: str = ""  # the nested object that holds it; empty when it is in the document itself

    @property
    def exists(self) -> dict[str, Any]:
        query: dict[str, Any] = {"exists": {"field": self.name}}
        return {"nested": {"path": self.nested, "query": query}} if self.nested else query


HOLDERS = ("object", "nested", "passthrough")  # types of fields that hold others


def mapped_fields(mapping: Json, prefix: str = "", nested: str = "") -> Iterator[MappedField]:
    """Yield the fields of a mapping, of objects and in other forms (`fields`) too, except ibidem's."""
    for short, definition in mapping.get("properties", {}).items():
        name, kind = f"{prefix}{short}", definition.get("type", "object")
        if name == OURS:
            continue
        yield MappedField(name, kind, name, nested)
        yield from mapped_fields(definition, f"{name}.", name if kind == "nested" else nested)
        for part, inner in definition.get("fields", {}).items():
            yield MappedField(f"{name}.{part}", inner.get("type", ""), name, nested)


VERSION = "3"
MAX_HITS = 10_000
TRIAL = "ibidem.trial-"  # before the names of trial indexes, out of reach of the patterns of others
SIGNATURES, MAX_PATH = "-signatures", 1_500  # behind the names of indexes of signatures; characters of a path
# Parts of an index's metadata that are read; its fields may be thousands.
_PARTS = (
    "*.aliases",
    "*.data_stream",
    "*.mappings._meta",
    "*.settings.index.number_of_shards",
    "*.settings.index.max_result_window",
    "*.settings.index.creation_date",
    "*.settings.index.uuid",
    "*.settings.index.search",
    "*.settings.index.disable_sequence_numbers",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of one index, or of several behind an alias."""

    indices: tuple[str, ...]  # their own names, in the order in which they were made; empty when there is none
    kinds: frozenset[str]  # `full` and `lean`, as far as ibidem's fields are there; empty if nothing was ever signed
    schemas: Mapping[str, str]  # the signature schema of each index that has one
    bare: tuple[str, ...]  # those without ibidem's fields
    shard_counts: Mapping[str, int]  # how many primary shards each has, in the same order
    max_hits: int  # the largest window that all of them allow
    pipelines: tuple[str, ...]  # the search pipelines that they put behind every search
    # The indexes behind each of their aliases and data streams.
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    streams: Mapping[str, str] = field(default_factory=dict)  # the data stream of each index that is of one
    filtered: frozenset[str] = frozenset()  # aliases that show a part of an index only
    # The write index of each alias with several indexes, if it has one.
    write_indices: Mapping[str, str] = field(default_factory=dict)
    # The server's own identity of each index: another one was made anew under the same name.
    uuids: Mapping[str, str] = field(default_factory=dict)
    # Sub-fields that hold stems of the text in at least one of the indexes; empty if no text was named.
    stemmed: tuple[str, ...] = ()
    unnumbered: tuple[str, ...] = ()  # those whose sequence numbers cannot be searched
    beside: tuple[str, ...] = ()  # indexes of ibidem's own that hold the signatures of some of those in `bare`

    def names(self, *asked: str) -> IndexNames:
        return IndexNames(asked, self.indices, self.aliases, self.streams)

    @property
    def kind(self) -> str:
        """The layout in which documents are written."""
        return "full" if "full" in self.kinds else "lean"

    @property
    def is_set(self) -> bool:
        """Return whether other indexes are, or will be, behind the same name."""
        return len(self.indices) > 1 or bool(self.streams)

    @property
    def shards(self) -> int:
        return sum(self.shard_counts.values())

    @property
    def numbers_writes(self) -> bool:
        """Return whether sequence numbers order all writes."""
        return self.shards == 1 and not self.unnumbered


def read(cluster: ClusterClient, index: str, *, text: str = "") -> Layout:
    """Read the layout of the indexes of a name; a missing index is not an error."""
    return cluster.hold(read_layout(index, text=text))


def read_layout(
    index: str, params: Mapping[str, str] | None = None, ok_statuses: tuple[int, ...] = (NOT_FOUND,), *, text: str = ""
) -> RequestFlow[Layout]:
    path = f"/{quote_index(index or '_all')}"
    parameters = {**(params or {}), "filter_path": ",".join((*_PARTS, *metadata_parts(text)))}
    answer: Json = yield ApiRequest("GET", path, parameters, ok_statuses=ok_statuses)
    metadata = {name: _own_meta(each) for name, each in answer.items()}
    index_settings = {name: each.get("settings", {}).get("index", {}) for name, each in answer.items()}
    settings = list(index_settings.values())
    indices = sorted(answer, key=lambda name: (int(index_settings[name].get("creation_date", 0)), name))
    aliases: defaultdict[str, dict[str, Json]] = defaultdict(dict)  # properties by name and index
    for name, each in sorted(answer.items()):
        for alias in (*each.get("aliases", {}), *([each["data_stream"]] if "data_stream" in each else ())):
            aliases[alias][name] = each.get("aliases", {}).get(alias, {})
    properties = [(alias, name, each) for alias, own in aliases.items() for name, each in own.items()]
    layout = Layout(
        indices=tuple(indices),
        kinds=frozenset(str(meta.get("layout", "full")) for meta in metadata.values() if meta),
        schemas={name: str(meta.get("schema", "")) for name, meta in metadata.items() if meta},
        bare=tuple(sorted(name for name, meta in metadata.items() if not meta)),
        shard_counts={name: int(index_settings[name].get("number_of_shards", 1)) for name in indices},
        max_hits=min((int(each.get("max_result_window", MAX_HITS)) for each in settings), default=MAX_HITS),
        pipelines=tuple(
            sorted({str(each.get("search", {}).get("default_pipeline", "")) for each in settings} - {"", "_none"})
        ),
        aliases={name: tuple(each) for name, each in aliases.items()},
        streams={name: str(each["data_stream"]) for name, each in answer.items() if "data_stream" in each},
        filtered=frozenset(alias for alias, _, each in properties if "filter" in each),
        write_indices={alias: index for alias, index, each in properties if each.get("is_write_index")},
        uuids={name: str(each.get("uuid", "")) for name, each in index_settings.items()},
        unnumbered=tuple(name for name in indices if index_settings[name].get("disable_sequence_numbers") == "true"),
        stemmed=tuple(sorted({path for each in answer.values() for path in stemmed_fields(each, text)})),
    )
    if not layout.bare:
        return layout
    # The indexes of signatures beside those without ibidem's fields; none where they may not be seen.
    names = set(map(signature_index, layout.names().sources))
    path = ",".join(sorted(names))
    path = path if len(path) < MAX_PATH else signature_index("*")
    parameters = {"filter_path": "*.mappings._meta", "ignore_unavailable": "true", "expand_wildcards": "all"}
    answer = yield ApiRequest("GET", f"/{quote_index(path)}", parameters, ok_statuses=(FORBIDDEN, NOT_FOUND))
    own = {name: _own_meta(each) for name, each in sorted(answer.items()) if name in names}
    found = {name: str(meta.get("schema", "")) for name, meta in own.items() if meta}
    return replace(layout, beside=tuple(found), schemas={**layout.schemas, **found})


def signature_index(source: str) -> str:
    """Return the index with the signatures of a name whose documents are left as they are."""
    return f".ibidem-{source}{SIGNATURES}"


def source_of(signatures: str) -> str:
    """Return the name whose signatures an index holds: the inverse of `signature_index`."""
    return signatures.removeprefix(".ibidem-").removesuffix(SIGNATURES)


def beside_key(index: str, id_: str) -> str:
    """Return the id of a document's entry in the index of signatures; no index has a slash in its name."""
    return f"{index}/{id_}"


def document_of(key: str) -> tuple[str, str]:
    """Return index and id of an entry's document: the inverse of `beside_key`."""
    index, _, id_ = key.partition("/")
    return index, id_


def check_readable(layout: Layout, index: str, cluster: ClusterClient) -> None:
    """Refuse to read a missing index, and an index that another version signed."""
    if not layout.indices:
        raise NoIndex(f"no index {index!r} in {cluster.label}", "create it with: ibidem ingest PATH")
    if fault := schema_fault(layout):
        raise Permanent(f"{cluster.label}: {fault[0]}", fault[1])


def schema_fault(layout: Layout) -> tuple[str, str] | None:
    """Return which indexes were signed by another version, and the remedy."""
    other_schemas = {name: schema for name, schema in layout.schemas.items() if schema != SCHEMA}
    if not other_schemas:
        return None
    signers = ", ".join(f"{name!r} with {schema}" for name, schema in sorted(other_schemas.items()))
    return (
        f"signed by another signature schema: index {signers}; this version reads {SCHEMA}",
        "rebuild it with: ibidem backfill --into NAME",
    )


def pipeline_fault(pipelines: Iterable[str]) -> RequestFlow[tuple[str, str] | None]:
    """Return which search pipeline removes hits, and the remedy."""
    for name in pipelines:
        answer = yield ApiRequest("GET", f"/_search/pipeline/{quote_index(name)}", ok_statuses=(NOT_FOUND,))
        steps = answer.get(name, {}).get("response_processors", [])
        if any("collapse" in step for step in steps):
            problem = (
                f"the search pipeline {name!r} collapses: it discards hits, so no count of duplicates could be correct"
            )
            return problem, "take 'collapse' out of the pipeline, or unset index.search.default_pipeline"
    return None


def check_writable(layout: Layout, cluster: ClusterClient) -> None:
    """Refuse to write where ibidem must not, and where the server would have to guess the mapping of our fields."""
    if layout.beside:
        raise UsageError(
            f"{cluster.label}: the signatures of {', '.join(map(repr, layout.bare))} are beside it, in "
            f"{', '.join(map(repr, layout.beside))}, so ibidem writes nothing into it",
            "write its documents as before, and sign them with: ibidem backfill --beside; or first: ibidem strip",
        )
    if layout.bare:
        raise Permanent(
            f"{cluster.label}: index {', '.join(map(repr, layout.bare))} has no fields of ibidem yet",
            "add them with: ibidem backfill",
        )


def write_index(layout: Layout, index: str, cluster: ClusterClient) -> str:
    """Return the index for new documents: the index itself, the write index of an alias, or the data stream."""
    if layout.streams:
        return index
    if len(layout.indices) == 1:
        return layout.indices[0]
    if index not in layout.write_indices:
        raise Permanent(
            f"{cluster.label}: the alias {index!r} of {', '.join(map(repr, layout.indices))} has no write index",
            "set is_write_index for one of them, or name one in IBIDEM_INDEX",
        )
    return layout.write_indices[index]


def create(cluster: ClusterClient, index: str) -> None:
    """Create the index if it is missing; add ibidem's fields to a foreign one."""
    layout, kind = read(cluster, index), cluster.address.layout
    if not layout.indices:
        body = template(kind)
        if codec := body["settings"]["index"].get("codec"):
            _try_codec(cluster, codec)
        make(cluster, index, body)
    elif layout.beside:
        check_writable(layout, cluster)
    elif layout.bare:
        added = own_fields(kind)
        for each in layout.bare:
            (current,) = cluster.ask("GET", f"/{each}/_mapping").values()
            meta = current["mappings"].get("_meta", {}) | added["_meta"]
            cluster.ask("PUT", f"/{each}/_mapping", {**added, "_meta": meta})


def template(kind: str) -> dict[str, Any]:
    name = f"cluster.v{VERSION}.json" if kind == "full" else f"cluster.{kind}.v{VERSION}.json"
    body: dict[str, Any] = orjson.loads(load(name).replace("{schema}", SCHEMA))
    return body


def make(cluster: ClusterClient, name: str, body: dict[str, Any]) -> None:
    """Create an index; it may be created by another process at the same time."""
    try:
        cluster.ask("PUT", f"/{name}", body)
    except Permanent as error:
        cause = error.__cause__
        if not (isinstance(cause, Failure) and cause.kind == "resource_already_exists_exception"):
            raise


def _try_codec(cluster: ClusterClient, codec: str) -> None:
    """Write into a temporary index: a server without a codec's library fails at the first document."""
    trial = f"{TRIAL}{secrets.token_hex(4)}"
    shape = {"number_of_shards": 1, "number_of_replicas": 0}
    settings = {**shape, "codec": codec, "hidden": True, "refresh_interval": -1}  # a second refresh would wait in vain
    make(cluster, trial, {"settings": settings})
    try:
        cluster.ask("POST", f"/{trial}/_doc", {"text": "one"})
        cluster.ask("POST", f"/{trial}/_refresh")
    except Permanent as error:
        what = f"{error.what}: the server cannot write an index compressed by {codec!r}, as the layout `lean` requires"
        remedy = "leave ?layout=lean out of IBIDEM_ENGINE, or use a server with all its modules"
        raise Permanent(what, remedy) from error
    finally:
        cluster.ask("DELETE", f"/{trial}", ignore_unavailable="true")


def own_fields(kind: str) -> dict[str, Any]:
    """Return the part of a mapping that an index of others is given."""
    mappings = template(kind)["mappings"]
    return {"_meta": mappings["_meta"], "properties": {OURS: mappings["properties"][OURS]}}


def _own_meta(index: Json) -> Json:
    """Return the `_meta` of a mapping; empty for an index that was not created by ibidem."""
    metadata = index.get("mappings", {}).get("_meta", {}).get("ibidem", {})
    return metadata if isinstance(metadata, Mapping) else {}


def refresh_index(cluster: ClusterClient, indices: str, /, **params: str) -> None:
    for _ in range(2):  # again if a shard came back between the two responses
        answer = cluster.ask("POST", f"/{quote_index(indices)}/_refresh", **params)["_shards"]
        if not answer["failed"] and answer["successful"] == answer["total"]:
            return
        path, parts = f"/_cluster/health/{quote_index(indices)}", {"filter_path": "status,active_shards"}
        request = ApiRequest("GET", path, parts, ok_statuses=(FORBIDDEN, NOT_FOUND))
        health: Json = {} if answer["failed"] else cluster.send(request)
        if answer["failed"] or health.get("status") == "red":
            problem = f"{answer['successful']} of {answer['total']} shards of {indices!r} were refreshed"
            failure = Failure(503, "unavailable_shards_exception", problem)
            raise to_engine_error(failure, cluster.label) from failure
        if answer["successful"] >= health.get("active_shards", 0):
            return


def write_order(seq_no: int) -> int:
    """Return a sequence number counted from one; zero means that nothing was written."""
    return seq_no + 1


NONE = 0  # number before the first write: sequence numbers are counted from one here, as `Outcome.order` is


class ClusterParts(Parts):
    """The shards of an index, or of the indexes behind a name, each of which numbers its own writes; see `Parts`."""

    def __init__(self, cluster: ClusterClient, index: str) -> None:
        self.index = index
        self.cluster = cluster

    @cached_property
    def layout(self) -> Layout:
        if not (layout := read(self.cluster, self.index)).indices:
            raise NoIndex(f"no index {self.index!r} in {self.cluster.label}", "name one in IBIDEM_INDEX")
        return layout

    @cached_property
    def _parts(self) -> list[ShardRef]:
        return [ShardRef(index, shard) for index, count in self.layout.shard_counts.items() for shard in range(count)]

    def parts(self) -> list[ShardRef]:
        return self._parts

    def target(self, part: ShardRef) -> Target:
        return Target(part.index, params={"preference": f"_shards:{part.shard}"})

    def search(self, part: ShardRef, body: Clause) -> Any:
        return self.cluster.send(self.target(part).search(body))

    def count_in(self, part: ShardRef, query: Clause) -> int:
        return total_of(self.search(part, {"query": query, **COUNTED}))

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return for each part the number up to which all writes are complete and visible.

        A search may find a write while one with a lower number is still under way; up to the global checkpoint none is.
        """
        stats = self._primaries()
        numbers = {part: write_order(int(each["seq_no"]["global_checkpoint"])) for part, each in stats.items()}
        if numbers != marks:
            refresh_index(self.cluster, self._path)
        return numbers

    def uuids(self) -> Mapping[str, str]:
        """Return the identity of each index: its UUID, and a hash of the history UUIDs of its shards.

        An index that is restored over a closed one keeps its UUID and goes back to an earlier sequence number, and so
        does a shard that is brought back from a stale copy; both begin another history.
        """
        histories: dict[str, list[str]] = {index: [] for index in self.layout.indices}
        for part, each in (self._primaries() if self.parts() else {}).items():
            histories[part.index].append(each["commit"]["user_data"].get("history_uuid", ""))
        return {
            index: f"{self.layout.uuids[index]}/{xxh3_64_hexdigest(' '.join(uuids).encode())}"
            for index, uuids in histories.items()
        }

    def deletions(self) -> int:
        """Return a number that changes with every deletion in these parts.

        A shard's count of deletions is that of its copy in memory: it starts at 0 again when the node restarts, another
        copy becomes the primary, or the index is closed and opened. The start of the copy's recovery tells these apart.
        """
        counts = {str(part): each["indexing"]["delete_total"] for part, each in self._primaries().items()}
        fields = "*.shards.id,*.shards.primary,*.shards.start_time_in_millis"
        answer = self.cluster.ask("GET", f"/{self._path}/_recovery", filter_path=fields)
        starts = sorted(
            (index, shard["id"], shard["start_time_in_millis"])
            for index, each in answer.items()
            for shard in each["shards"]
            if shard["primary"]
        )
        return xxh3_64_intdigest(orjson.dumps([counts, starts], option=orjson.OPT_SORT_KEYS)) >> 1

    def states(
        self, seq_range: SeqNoRange, size: int, ids: Sequence[str] | None = None
    ) -> list[tuple[Name, tuple[int, int]]]:
        """Return the first documents written in a range of sequence numbers, in order, with their states."""
        body: Clause = {
            "query": all_of(in_range(seq_range), *([] if ids is None else [ids_query(ids)])),
            "sort": [{"_seq_no": {"order": "asc", "unmapped_type": "long"}}],  # which an empty index may not have
            "size": size,
            **STATES,
        }
        return [(name_of(hit), state_of(hit)) for hit in hits_of(self.search(seq_range.part, body))]

    @property
    def _path(self) -> str:
        return quote_index(",".join({part.index: None for part in self.parts()}))

    def _primaries(self) -> dict[ShardRef, Json]:
        """Read the statistics of each part's primary copy."""
        path = f"/{self._path}/_stats/indexing"
        answer = self.cluster.ask("GET", path, level="shards", filter_path="indices.*.shards").get("indices", {})
        stats = {
            ShardRef(index, int(number)): copy
            for index, each in answer.items()
            for number, copies in each["shards"].items()
            for copy in copies
            if copy["routing"]["primary"] and "seq_no" in copy
        }
        for part in self.parts():
            if part not in stats:
                failure = Failure(503, "no_shard_available_action_exception", f"[{part.index}][{part.shard}]")
                raise to_engine_error(failure, self.cluster.label) from failure
        return {part: stats[part] for part in self.parts()}


StateKey = tuple[str, str, str, tuple[int, int]]  # index, id and routing of a document, and its state


def state_key(document: Json) -> StateKey:
    return document["_index"], document["_id"], document.get("_routing", ""), state_of(document)


def search_states(
    cluster: ClusterClient, index: str, keys: Iterable[StateKey], parts: Json, *clauses: Clause
) -> dict[StateKey, Json]:
    """Search for documents in their very states, and after a refresh for those that are not visible yet."""
    found: dict[StateKey, Json] = {}
    for turn in range(2):
        missing = [key[:2] for key in keys if key not in found]
        if missing and turn:
            refresh_index(cluster, index)
        hits = cluster.hold(dsl.fetch_parts(Target(index), missing, {**STATES, **parts}, *clauses))
        found |= {state_key(hit): hit for hit in hits}
    return found


def count(cluster: ClusterClient, index: str, query: Clause = ALL) -> int:
    return total_of(cluster.search(index, {"query": query, **COUNTED}))


def name_of(hit: Json) -> Name:
    return Name(hit["_index"], hit["_id"], write_order(hit["_seq_no"]), hit.get("_routing", ""))


def in_range(seq_range: SeqNoRange) -> Clause:
    return {"range": {"_seq_no": {"gte": seq_range.after, "lt": seq_range.end}}}


OK_STATUSES = (403, 404, 400)  # without the right to read, or on a server without the API

MAX_SOURCES = 25  # names in the path of one request

_SETTINGS = "*.settings.index.uuid,*.settings.index.blocks"

BLOCKS = {
    "read_only_allow_delete": (
        "is read-only because the server's disk was almost full (flood stage)",
        "free space on its disk; it then unblocks the index by itself",
    ),
    "read_only": ("is read-only", "set index.blocks.read_only to null"),
    "write": ("is closed to writing", "set index.blocks.write to null"),
}


def check_cluster(cluster: ClusterClient, indices: Sequence[str]) -> Iterator[HealthIssue]:
    """Check the shards and blocks of indexes and the disks, as far as the user has access."""
    parameters = {"filter_path": _SETTINGS, "expand_wildcards": "all", "ignore_unavailable": "true"}
    settings = _get(cluster, f"/{quote_index(','.join(indices))}/_settings", parameters)
    path = f"/_cluster/health/{','.join(map(quote_index, sorted(settings)))}"
    health = _get(cluster, path, {"level": "indices"}).get("indices", {}) if settings else {}
    for name, each in sorted(health.items()):
        if each["status"] == "red":
            body = {"index": name, "shard": 0, "primary": True}  # why the first shard is unassigned
            request = ApiRequest("POST", "/_cluster/allocation/explain", body=body, ok_statuses=OK_STATUSES)
            explained = cluster.send(request)
            info = explained.get("unassigned_info", {})
            details = str(info.get("details", "")).partition("\n")[0]
            reasons = [info.get("reason", ""), details, explained.get("allocate_explanation", "")]
            reason = "".join(f"; {each}" for each in reasons if each)
            yield HealthIssue(
                "shards",
                f"index {name!r} is red: {each['unassigned_shards']} of its shards are unassigned{reason}",
                "bring back the node that holds them, or restore the index from a snapshot",
                stops=True,
            )
    for name, each in sorted(settings.items()):
        blocks = each["settings"]["index"].get("blocks", {})
        for block, (problem, remedy) in BLOCKS.items():
            if str(blocks.get(block, "false")) == "true":
                yield HealthIssue("blocks", f"index {name!r} {problem}", remedy)
    yield from _check_disks(cluster)


def _check_disks(cluster: ClusterClient) -> Iterator[HealthIssue]:
    name = "cluster.routing.allocation.disk.threshold_enabled"
    settings = _get(cluster, "/_cluster/settings", {"include_defaults": "true", "flat_settings": "true"})
    values = [settings.get(kind, {}).get(name) for kind in ("transient", "persistent", "defaults")]
    if next((str(each) for each in values if each is not None), "true") != "true":
        return  # the server does not look at its disks, so a full one blocks no index
    answer = _get(cluster, "/_nodes/stats/fs", {"filter_path": "nodes.*.name,nodes.*.fs.total"})
    for node in answer.get("nodes", {}).values():
        disk = node.get("fs", {}).get("total", {})
        if size := disk.get("total_in_bytes", 0):
            name = f"the disk of node {node.get('name', '')!r}"
            yield from HealthIssue.of_disk(name, size, disk.get("available_in_bytes", size))


def _get(cluster: ClusterClient, path: str, params: Mapping[str, str]) -> Any:
    return cluster.send(ApiRequest("GET", path, params, ok_statuses=OK_STATUSES))


FIELDS_SHOWN = 8  # fields of an index that are named

# Types of fields whose words are found.
TEXT_TYPES = ("text", "match_only_text", "annotated_text", "search_as_you_type")

# Others' names of a title and a text, the likeliest first.
LIKELY: Mapping[str, Sequence[str]] = {
    "title": ("title", "headline", "heading", "subject", "name", "caption", "label"),
    "text": ("text", "body", "content", "fulltext", "article", "message", "description", "abstract", "summary", "raw"),
}


def field_issues(index: str, fields: Fields) -> RequestFlow[list[HealthIssue]]:
    """Return an issue if an index lacks the title or text field; none if it has both, or no field at all."""
    answer = yield ApiRequest("GET", f"/{quote_index(index)}/_mapping", ok_statuses=(403, 404))
    paths: dict[str, str] = {}
    for each in answer.values():
        mapping = each.get("mappings", {})
        paths |= {name: str(field.get("type", "")) for name, field in mapping.get("runtime", {}).items()}
        fields_of = (field for field in mapped_fields(mapping) if field.name == field.path)
        paths |= {field.name: field.type for field in fields_of if field.type not in HOLDERS}
    searched = {"title": fields.title, "text": fields.searched}
    missing = [name for name in LIKELY if searched[name] not in paths]
    if not missing or not paths:
        return []
    names = " and ".join(repr(searched[name]) for name in missing)
    noun = "field" if len(missing) == 1 else "fields"
    problem = f"index {index!r} has no {noun} {names}, so searches find nothing there"
    text_fields = [path for path, kind in paths.items() if kind in TEXT_TYPES]
    candidates = {"title": list(paths), "text": text_fields}
    likely = {name: _guess_path(words, candidates[name]) for name, words in LIKELY.items()}
    options = {name: path if (path := getattr(fields, name)) in paths else likely[name] or "FIELD" for name in LIKELY}
    pairs = ",".join(f"{name}={path}" for name, path in options.items())
    suffix = f" and {len(text_fields) - FIELDS_SHOWN} more" if len(text_fields) > FIELDS_SHOWN else ""
    shown = f" (of type text are {', '.join(text_fields[:FIELDS_SHOWN])}{suffix})"
    shown = shown if text_fields else "; none of its fields is of type text"
    return [HealthIssue("fields", problem, f"map them, such as IBIDEM_FIELDS={pairs}{shown}")]


def _guess_path(words: Sequence[str], paths: Sequence[str]) -> str:
    """Return the path whose last part is the most likely match, else an empty text."""
    ends = {path: path.rpartition(".")[2].lower().replace("_", "") for path in paths}
    for word in words:
        for test in (str.__eq__, str.startswith, str.endswith):
            if likely := [path for path, end in ends.items() if test(end, word)]:
                return min(likely, key=len)
    return paths[0] if len(paths) == 1 else ""


def lag(index: str, beside: Sequence[str], clock: str) -> RequestFlow[list[HealthIssue]]:
    """Return by how much the signatures beside an index are behind its documents, if they are."""
    figures: list[tuple[int, int]] = []  # documents, and the last write
    for name, numbers in ((index, clock), (",".join(beside), f"{OURS}.order")):
        answer = yield Target(name).search({**COUNTED, "aggs": {"last": {"max": {"field": numbers}}}})
        figures.append((total_of(answer), int(answer["aggregations"]["last"]["value"] or 0)))
    (documents, newest), (held, signed) = figures
    writes = newest + 1 - signed
    if documents == held and writes <= 0:
        return []
    what = f"{held:,} signatures beside {documents:,} documents of {index!r}, {max(0, writes):,} writes behind"
    return [HealthIssue("beside", what, "sign new documents, and forget those that are gone: ibidem backfill --beside")]
