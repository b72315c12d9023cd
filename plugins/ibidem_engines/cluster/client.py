"""Transport: sends JSON requests through an official client, with retries; differences of the two engines.

Error responses of OpenSearch and Elasticsearch are translated into errors of ours by one table.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

from ibidem_core.errors import EngineError, NoIndex, Permanent, Unavailable
from ibidem_core.redaction import redact_text
from ibidem_engines.requests import BUSY, ApiRequest, RequestFlow, T, Transport, run_sync
from ibidem_engines.throttle import Throttle

# Type of an error when no server named one.
UNREACHABLE, TIMEOUT, CERTIFICATE, OTHER_PRODUCT, UNREADABLE, SHARDS = (
    "unreachable",
    "timeout",
    "certificate",
    "other product",
    "unreadable",
    "shards",
)

# Type of the reason of a failed refresh: the shard cannot write, as without the library of its compression.
BROKEN_SHARD = "refresh_failed_engine_exception"


class Failure(Exception):
    """A failed request, not yet translated into one of our errors."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(status, kind, reason)
        self.status = status
        self.kind = kind
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Fault:
    """The meaning of a failure: error class, message and remedy."""

    error: type[EngineError]  # `Unavailable` or `Permanent`
    what: str  # what happened; empty when the server's own words say it
    remedy: str  # what to do about it
    soon: bool = False  # whether it may pass within a second, so that the engine itself asks again


_BUSY = Fault(Unavailable, "it is overloaded", "try again, or write with fewer workers", soon=True)
_STARTING = Fault(Unavailable, "the cluster has no leader", "wait until it has started, or look at its log", soon=True)
_RED = Fault(
    Unavailable,
    "part of the index is unavailable (its health is red)",
    "bring back the node that holds it, or restore the index from a snapshot",
)
_NODE = Fault(Unavailable, "a node of the cluster has left", "try again; start the node if it stays away", soon=True)
_CURSOR = Fault(
    Permanent, "the cursor's point in time has expired, so its ranking is lost", "search again without the cursor"
)

# By the type of the error, which says more than the status.
KINDS: dict[str, Fault] = {
    UNREACHABLE: Fault(
        Unavailable, "it does not answer", "start it, or correct the address in IBIDEM_ENGINE", soon=True
    ),
    TIMEOUT: Fault(Unavailable, "it did not answer in time", "try again; ?timeout=SECONDS sets a longer time"),
    CERTIFICATE: Fault(
        Permanent,
        "its certificate cannot be verified",
        "name the certificate authority's file in the address: ?ca=FILE",
    ),
    OTHER_PRODUCT: Fault(
        Permanent, "it is not Elasticsearch", "write opensearch+http://… in IBIDEM_ENGINE if it is OpenSearch"
    ),
    UNREADABLE: Fault(Permanent, "its answer is not JSON", "check that the address is the search engine's"),
    SHARDS: Fault(
        Unavailable, "not every copy of the index took part", "try again, or look at the logs of the nodes", soon=True
    ),
    "index_not_found_exception": Fault(NoIndex, "", "create the index with: ibidem ingest PATH"),
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
    "task_cancelled_exception": Fault(Unavailable, "it was cancelled by an administrator", "try again"),
    "unavailable_shards_exception": _RED,
    "no_shard_available_action_exception": _RED,
    "index_create_block_exception": Fault(
        Unavailable,
        "it cannot create an index because its disk is almost full",
        "free space on its disk; it then creates indexes again by itself",
    ),
    "too_many_clauses": Fault(Permanent, "the query has more clauses than it accepts", "ask for fewer words"),
}

# How OpenSearch says, under a type that may mean anything, that a node which held a point in time has gone.
NODE_OF_CURSOR = "no node found for id"

# `cluster_block_exception`, by the status.
BLOCKS: dict[int, Fault] = {
    403: Fault(
        Permanent, "the index is closed to writing", "lift the block: index.blocks.write, index.blocks.read_only"
    ),
    429: Fault(
        Unavailable,
        "the index is read-only because the server's disk is almost full (flood stage)",
        "free space on its disk; it then unblocks the index by itself",
    ),
    503: _STARTING,
}

# By HTTP status, when the type is not in the table above.
STATUSES: dict[int, Fault] = {
    401: Fault(
        Permanent,
        "it rejects this user and password (or API key)",
        "correct them in IBIDEM_ENGINE: user:password@",
    ),
    403: Fault(Permanent, "this user is not permitted to do that", "give the user the right to this index"),
    413: Fault(Permanent, "the request is larger than it accepts", "raise its http.max_content_length"),
    429: _BUSY,
    502: Fault(
        Unavailable, "the proxy in front of it gets no answer", "try again, or look at the proxy's log", soon=True
    ),
    503: _RED,
    504: Fault(Unavailable, "the proxy in front of it gets no answer in time", "try again", soon=True),
}

_OTHERWISE = Fault(Permanent, "", "")


def find_fault(failure: Failure) -> Fault:
    """Return the table entry of a failure."""
    if failure.kind == "cluster_block_exception" and failure.status in BLOCKS:
        return BLOCKS[failure.status]
    if failure.kind == "illegal_state_exception" and failure.reason.startswith(NODE_OF_CURSOR):
        return _CURSOR
    return KINDS.get(failure.kind) or STATUSES.get(failure.status) or _OTHERWISE


def to_engine_error(failure: Failure, location: str) -> EngineError:
    """Create one of our errors.

    >>> str(to_engine_error(Failure(404, "index_not_found_exception", "no such index [news]"), "opensearch+http://host:9200"))
    'opensearch+http://host:9200: no such index [news]; create the index with: ibidem ingest PATH'
    """
    fault = find_fault(failure)
    message = f"status {failure.status}: {failure.reason}" if failure.status else failure.reason
    text = f"{fault.what} ({message})" if fault.what else failure.reason or message
    return fault.error(f"{location}: {text}", fault.remedy)


def build_failure(status: int, answer: object, secret_values: Collection[str] = ()) -> Failure:
    """Read type and reason from an answer's `error`: the innermost cause that has both.

    A refresh that a stalled replica missed carries no error.

    >>> build_failure(404, {"error": {"type": "outer", "root_cause": [{"type": "inner", "reason": "why"}]}}).kind
    'inner'
    """
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if not isinstance(error, Mapping):
        return Failure(status, _shards_kind(answer), _reason(error or answer or "", secret_values))
    cause = _cause(error)
    reason = cause.get("reason") or error.get("reason") or ""
    return Failure(status, str(cause.get("type", "")), _reason(reason, secret_values))


def _shards_kind(answer: object) -> str:
    """Return the type of a failed refresh: a retry may reach all copies, unless a shard itself failed."""
    shards = answer.get("_shards") if isinstance(answer, Mapping) else None
    if not isinstance(shards, Mapping):
        return ""
    failures = shards.get("failures")
    reasons = (
        [each.get("reason") for each in failures if isinstance(each, Mapping)] if isinstance(failures, list) else ()
    )
    return "" if any(BROKEN_SHARD in _types(each) for each in reasons) else SHARDS


def _types(cause: object) -> Iterator[object]:
    """Yield the type of an error cause, and of the causes behind it."""
    while isinstance(cause, Mapping):
        yield cause.get("type")
        cause = cause.get("caused_by")


def _reason(text: object, secret_values: Collection[str]) -> str:
    """Redact secrets before the text is shortened, so that no part of a secret remains."""
    return (redact_text(str(text), secret_values) if secret_values else str(text))[:500]


def _cause(error: Mapping[str, object]) -> Mapping[str, object]:
    """Return the cause of an error: its first root cause, or `caused_by`."""
    roots = error.get("root_cause")
    if isinstance(roots, list) and roots and isinstance(roots[0], Mapping):
        return roots[0]
    cause = error.get("caused_by")
    return cause if not error.get("reason") and isinstance(cause, Mapping) else error


JSON = "application/json"
LINES = "application/x-ndjson"
BULK = "/_bulk"  # where writes go

WAITS_S = (0.1, 0.4, 1.6)  # seconds before the second, third and fourth try, each lengthened by up to a half

CONNECTIONS = 32  # maximum pooled connections per node

NOTHING: Mapping[str, str] = MappingProxyType({})


class _Count(threading.local):
    """A counter per thread."""

    value = 0


class ClusterClient:
    """A cluster, with one set of connections per process, shared by its threads.

    `resend_count` counts further tries of this thread: one before may have done what it asked for, though its answer
    did not come. `throttle` bounds the writes of all threads.
    """

    def __init__(
        self,
        label: str,
        connect: Callable[[], Transport],
        waits: tuple[float, ...] = WAITS_S,
        search_parts: Mapping[str, str] = NOTHING,
    ) -> None:
        self.label = label
        self.waits = waits
        self._search_parts = search_parts
        self.throttle = Throttle()
        self._sent_again = _Count()
        self._connect = connect
        self._wire: Transport | None = None
        self._pid = 0
        self._connecting = threading.Lock()

    @property
    def resend_count(self) -> int:
        """Number of repeated requests of this thread."""
        return self._sent_again.value

    def ask(self, method: str, path: str, body: object = None, /, **params: str) -> Any:
        """Send a request with a JSON body and return the response."""
        if self._search_parts and path.endswith("/_search"):
            body = {**self._search_parts, **(body if isinstance(body, Mapping) else {})}
        return self._with_retries(method, path, params, JSON, None if body is None else orjson.dumps(body))

    def ask_lines(self, path: str, lines: Iterable[bytes], /, **params: str) -> Any:
        """Post JSON Lines and return the response."""
        return self._with_retries("POST", path, params, LINES, b"".join(line + b"\n" for line in lines))

    def hold(self, flow: RequestFlow[T]) -> T:
        """Send every request of a flow, and return its result."""
        try:
            return run_sync(flow, self._send)
        except Failure as failure:
            raise to_engine_error(failure, self.label) from failure

    def wait(self, turn: int) -> None:
        """Wait before the next try, for a random time so that clients do not all retry at once."""
        time.sleep(self.waits[turn] * (1 + secrets.randbelow(500) / 1000))

    def close(self) -> None:
        """Close this process's connections."""
        if self._wire is not None and self._pid == os.getpid():
            self._wire.close()
        self._wire = None

    def _send(self, request: ApiRequest) -> Any:
        try:
            if request.lines is not None:
                return self.ask_lines(request.path, map(orjson.dumps, self._lines(request)), **request.params)
            return self.ask(request.method, request.path, request.body, **request.params)
        except Permanent as error:
            cause = error.__cause__
            if not (isinstance(cause, Failure) and cause.status in request.ok_statuses):
                raise
            return {}

    def _lines(self, request: ApiRequest) -> Iterable[Mapping[str, Any]]:
        """Yield the lines of a request; in `_msearch` every second line is a body."""
        lines = request.lines or ()
        if not request.path.endswith("/_msearch"):
            return lines
        return [{**self._search_parts, **line} if position % 2 else line for position, line in enumerate(lines)]

    def _with_retries(
        self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None
    ) -> object:
        turn = 0
        while True:
            try:
                return self._send_once(method, path, params, content_type, body)
            except Failure as failure:
                if failure.status == BUSY and path == BULK:
                    self.throttle.reject()
                if turn == len(self.waits) or not find_fault(failure).soon:
                    raise to_engine_error(failure, self.label) from failure
            self.wait(turn)
            turn += 1
            self._sent_again.value += 1

    def _send_once(
        self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None
    ) -> dict[str, Any]:
        """Send a request once; a response that is not a JSON object does not come from these servers."""
        answer = self._client().send(method, path, params, content_type, body)
        if not isinstance(answer, dict):
            raise Failure(0, UNREADABLE, f"{method} {path}: {str(answer)[:100]}")
        return answer

    def _client(self) -> Transport:
        """Return this process's client; a client inherited by a fork is not used, since it shares connections."""
        with self._connecting:
            if self._wire is None or self._pid != os.getpid():
                self._wire, self._pid = self._connect(), os.getpid()
            return self._wire


@dataclass(frozen=True, slots=True)
class Dialect:
    """How Elasticsearch and OpenSearch differ."""

    name: str  # as in addresses
    product: str  # as people write it
    min_version: tuple[int, ...]  # oldest version that is understood, as its first numbers
    shard_doc_version: tuple[int, ...]  # the first version that sorts by `_shard_doc` in a point in time
    open_point: str  # path that opens a point in time
    open_whole: Mapping[str, str]  # parameters that require all shards when a point in time is opened
    opened_as: str  # where the answer holds its id
    close_point: str  # path that closes one
    closed_as: str  # where the request holds its id
    offset_limit: str  # option of a highlight that keeps a long text from failing the request
