"""Error map: translates responses of OpenSearch and Elasticsearch into errors of ours, by one table."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ibidem_engines.errors import EngineError, NoIndex, Permanent, Unavailable
from ibidem_engines.redaction import redact_text

UNREACHABLE, TIMEOUT, CERTIFICATE, OTHER_PRODUCT, UNREADABLE = (
    "unreachable",
    "timeout",
    "certificate",
    "other product",
    "unreadable",
)
"""What is in the place of an error's type when no server named one."""


class Failure(Exception):
    """One request that was not done, before it is judged.

    Args:
        status: HTTP status; 0 when there was no answer.
        kind: The error's type in the server's words, or one of the names above.
        reason: What the server said.
    """

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(status, kind, reason)
        self.status = status
        self.kind = kind
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Fault:
    """What a failure means to us.

    Args:
        error: `Unavailable` or `Permanent`.
        what: What happened; empty when the server's own words say it.
        remedy: What to do about it.
        soon: Whether it may pass within a second, so that the engine itself asks again.
    """

    error: type[EngineError]
    what: str
    remedy: str
    soon: bool = False


_BUSY = Fault(Unavailable, "it has more to do than it can take", "try again, or write with fewer workers", soon=True)
_STARTING = Fault(Unavailable, "the cluster has no leader", "wait until it has started, or look at its log", soon=True)
_RED = Fault(
    Unavailable,
    "a part of the index is not there (its health is red)",
    "bring back the node that holds it, or restore the index from a snapshot",
)
_NODE = Fault(Unavailable, "a node of the cluster has gone", "try again; start the node if it stays away", soon=True)
_CURSOR = Fault(
    Permanent, "the cursor's point in time has gone, and the ranking with it", "search again without the cursor"
)

KINDS: dict[str, Fault] = {
    UNREACHABLE: Fault(
        Unavailable, "it does not answer", "start it, or correct the address in IBIDEM_ENGINE", soon=True
    ),
    TIMEOUT: Fault(Unavailable, "it did not answer in time", "try again; a longer time is given by ?timeout=SECONDS"),
    CERTIFICATE: Fault(
        Permanent,
        "its certificate cannot be verified",
        "name the certificate authority's file in the address: ?ca=FILE",
    ),
    OTHER_PRODUCT: Fault(
        Permanent, "it is not Elasticsearch", "write opensearch+http://… in IBIDEM_ENGINE if it is OpenSearch"
    ),
    UNREADABLE: Fault(Permanent, "its answer is not JSON", "check that the address is the search engine's"),
    "index_not_found_exception": Fault(NoIndex, "", "make the index with: ibidem ingest PATH"),
    "circuit_breaking_exception": Fault(Unavailable, "its memory is full", "try again, or give it more", soon=True),
    "rejected_execution_exception": _BUSY,
    "es_rejected_execution_exception": _BUSY,
    "opensearch_rejected_execution_exception": _BUSY,
    "search_context_missing_exception": _CURSOR,
    "search_context_missing_nodes_exception": _CURSOR,
    "master_not_discovered_exception": _STARTING,
    "cluster_manager_not_discovered_exception": _STARTING,
    "process_cluster_event_timeout_exception": _BUSY,
    "node_disconnected_exception": _NODE,
    "node_not_connected_exception": _NODE,
    "unavailable_shards_exception": _RED,
    "no_shard_available_action_exception": _RED,
    "index_create_block_exception": Fault(
        Unavailable,
        "it makes no index, since its disk is almost full",
        "make room on its disk; it makes indexes again by itself",
    ),
    "too_many_clauses": Fault(Permanent, "the query has more parts than it takes", "ask for fewer words"),
}
"""By the type of the error, which says more than the status."""

NODE_OF_CURSOR = "no node found for id"
"""How OpenSearch says, under a type that stands for anything, that a node which held a point in time has gone."""

BLOCKS: dict[int, Fault] = {
    403: Fault(
        Permanent, "the index is closed to writing", "lift the block: index.blocks.write, index.blocks.read_only"
    ),
    429: Fault(
        Unavailable,
        "the index is read-only, since the server's disk is almost full (flood stage)",
        "make room on its disk; it opens the index again by itself",
    ),
    503: _STARTING,
}
"""`cluster_block_exception`, by the status."""

STATUSES: dict[int, Fault] = {
    401: Fault(
        Permanent,
        "it does not know this user and password (or API key)",
        "correct them in IBIDEM_ENGINE: user:password@",
    ),
    403: Fault(Permanent, "this user may not do that", "give the user the right to this index"),
    413: Fault(Permanent, "the request is larger than it takes", "raise its http.max_content_length"),
    429: _BUSY,
    502: Fault(Unavailable, "the proxy before it gets no answer", "try again, or look at the proxy's log", soon=True),
    503: _RED,
    504: Fault(Unavailable, "the proxy before it gets no answer in time", "try again", soon=True),
}
"""By HTTP status, when the type is not in the table above."""

_OTHERWISE = Fault(Permanent, "", "")


def find_fault(failure: Failure) -> Fault:
    """Look a failure up."""
    if failure.kind == "cluster_block_exception" and failure.status in BLOCKS:
        return BLOCKS[failure.status]
    if failure.kind == "illegal_state_exception" and failure.reason.startswith(NODE_OF_CURSOR):
        return _CURSOR
    return KINDS.get(failure.kind) or STATUSES.get(failure.status) or _OTHERWISE


def to_engine_error(failure: Failure, where: str) -> EngineError:
    """Make an error of ours.

    Args:
        failure: What was answered.
        where: The address without secrets, to be named.

    >>> str(to_engine_error(Failure(404, "index_not_found_exception", "no such index [news]"), "opensearch+http://host:9200"))
    'opensearch+http://host:9200: no such index [news]; make the index with: ibidem ingest PATH'
    """
    fault = find_fault(failure)
    said = f"status {failure.status}: {failure.reason}" if failure.status else failure.reason
    what = f"{fault.what} ({said})" if fault.what else failure.reason or said
    return fault.error(f"{where}: {what}", fault.remedy)


def failure_of(status: int, answer: object, hidden: Collection[str] = ()) -> Failure:
    """Read type and reason out of an answer's `error`, the innermost cause that names both.

    Args:
        status: HTTP status.
        answer: What came.
        hidden: Secrets that a server may repeat in its reason.

    >>> failure_of(404, {"error": {"type": "outer", "root_cause": [{"type": "inner", "reason": "why"}]}}).kind
    'inner'
    """
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if not isinstance(error, Mapping):
        return Failure(status, "", _reason(error or answer or "", hidden))
    cause = _cause(error)
    reason = cause.get("reason") or error.get("reason") or ""
    return Failure(status, str(cause.get("type", "")), _reason(reason, hidden))


def _reason(said: object, hidden: Collection[str]) -> str:
    """Hide secrets before the text is cut, so that no part of one is left."""
    return (redact_text(str(said), hidden) if hidden else str(said))[:500]


def _cause(error: Mapping[str, object]) -> Mapping[str, object]:
    """Find what lies behind an error: its first root cause, or what caused it."""
    roots = error.get("root_cause")
    if isinstance(roots, list) and roots and isinstance(roots[0], Mapping):
        return roots[0]
    cause = error.get("caused_by")
    return cause if not error.get("reason") and isinstance(cause, Mapping) else error
