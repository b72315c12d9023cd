"""Health of an index in a cluster: red shards, blocks, full disks, and fields that its mapping lacks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ibidem_core.address import OURS, Fields
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.dsl import COUNTED, total_of
from ibidem_engines.cluster.records import record_indices
from ibidem_engines.engine import HealthIssue
from ibidem_engines.requests import ApiRequest, RequestFlow, Target, quote_index

OK_STATUSES = (403, 404, 400)  # statuses of those who may not look, and of servers that do not know what is asked

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


def check_cluster(cluster: ClusterClient, sources: Sequence[str]) -> Iterator[HealthIssue]:
    """Check the shards and blocks of an index and the disks, as far as the user has access."""
    names = quote_index(",".join([*sources, *record_indices(sources)]))
    parameters = {"filter_path": _SETTINGS, "expand_wildcards": "all", "ignore_unavailable": "true"}
    settings = _get(cluster, f"/{names}/_settings", parameters)
    if settings:
        yield from _check_shards(cluster, sorted(settings))
    for name, each in sorted(settings.items()):
        blocks = each["settings"]["index"].get("blocks", {})
        for block, (problem, remedy) in BLOCKS.items():
            if str(blocks.get(block, "false")) == "true":
                yield HealthIssue("blocks", f"index {name!r} {problem}", remedy)
    yield from _check_disks(cluster)


def _check_shards(cluster: ClusterClient, names: Iterable[str]) -> Iterator[HealthIssue]:
    path = f"/_cluster/health/{','.join(map(quote_index, names))}"
    answer = _get(cluster, path, {"level": "indices"}).get("indices", {})
    for name, each in sorted(answer.items()):
        if each["status"] == "red":
            reason = _explain_allocation(cluster, name)
            yield HealthIssue(
                "shards",
                f"index {name!r} is red: {each['unassigned_shards']} of its shards are unassigned{reason}",
                "bring back the node that holds them, or restore the index from a snapshot",
                stops=True,
            )


def _explain_allocation(cluster: ClusterClient, index: str) -> str:
    """Ask the server why the first shard of an index is unassigned."""
    body = {"index": index, "shard": 0, "primary": True}
    request = ApiRequest("POST", "/_cluster/allocation/explain", body=body, ok_statuses=OK_STATUSES)
    answer = cluster.send(request)
    info = answer.get("unassigned_info", {})
    details = str(info.get("details", "")).partition("\n")[0]
    reasons = [info.get("reason", ""), details, answer.get("allocate_explanation", "")]
    return "".join(f"; {each}" for each in reasons if each)


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


def field_issue(index: str, fields: Fields) -> RequestFlow[HealthIssue | None]:
    """Return an issue if an index lacks the title or text field; None if it has both, or no field at all."""
    answer = yield ApiRequest("GET", f"/{quote_index(index)}/_mapping", ok_statuses=(403, 404))
    paths: dict[str, str] = {}
    for each in answer.values():
        paths |= dict(_flat(each.get("mappings", {})))
    searched = {"title": fields.title, "text": fields.searched}
    missing = [name for name in LIKELY if searched[name] not in paths]
    if not missing or not paths:
        return None
    names = " and ".join(repr(searched[name]) for name in missing)
    noun = "field" if len(missing) == 1 else "fields"
    problem = f"index {index!r} has no {noun} {names}, so searches find nothing there"
    return HealthIssue("fields", problem, f"map them, such as IBIDEM_FIELDS={_proposal(fields, paths)}")


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field path with its type, except for ibidem's own fields."""
    for name, each in mapping.get("runtime", {}).items():
        yield name, str(each.get("type", ""))
    for name, each in mapping.get("properties", {}).items():
        path = f"{prefix}{name}"
        if path == OURS:
            continue
        if "properties" in each:
            yield from _flat(each, f"{path}.")
        else:
            yield path, str(each.get("type", ""))


def _proposal(fields: Fields, field_types: Mapping[str, str]) -> str:
    """List likely field names, followed by the fields of the index."""
    text_fields = [path for path, kind in field_types.items() if kind in TEXT_TYPES]
    likely = {
        name: _guess_path(words, text_fields if name == "text" else list(field_types)) for name, words in LIKELY.items()
    }
    options = {
        name: path if (path := getattr(fields, name)) in field_types else likely[name] or "FIELD" for name in LIKELY
    }
    pairs = ",".join(f"{name}={path}" for name, path in options.items())
    if not text_fields:
        return f"{pairs}; none of its fields is of type text"
    suffix = f" and {len(text_fields) - FIELDS_SHOWN} more" if len(text_fields) > FIELDS_SHOWN else ""
    return f"{pairs} (of type text are {', '.join(text_fields[:FIELDS_SHOWN])}{suffix})"


def _guess_path(words: Sequence[str], paths: Sequence[str]) -> str:
    """Return the path whose last part is the most likely match; empty if there is none."""
    ends = {path: path.rpartition(".")[2].lower().replace("_", "") for path in paths}
    for word in words:
        for test in (str.__eq__, str.startswith, str.endswith):
            if likely := [path for path, end in ends.items() if test(end, word)]:
                return min(likely, key=len)
    return paths[0] if len(paths) == 1 else ""


def count_all(index: str) -> RequestFlow[int]:
    return total_of((yield Target(index).search(COUNTED)))


def lag(index: str, beside: Sequence[str], clock: str) -> RequestFlow[list[HealthIssue]]:
    """Return by how much the signatures beside an index are behind its documents, if they are."""
    documents, held = (yield from count_all(index)), (yield from count_all(",".join(beside)))
    newest: list[int] = []
    for name, field in ((index, clock), (",".join(beside), "ibidem.order")):
        answer = yield Target(name).search({"size": 0, "aggs": {"last": {"max": {"field": field}}}})
        newest.append(int(answer["aggregations"]["last"]["value"] or 0))
    writes = newest[0] + 1 - newest[1]
    if documents == held and writes <= 0:
        return []
    what = f"{held:,} signatures beside {documents:,} documents of {index!r}, {max(0, writes):,} writes behind"
    return [HealthIssue("beside", what, "sign new documents, and forget those that are gone: ibidem backfill --beside")]
