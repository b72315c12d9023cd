"""Transport: sends JSON and bulk requests through an official client, with retries; differences of the two engines.

Error responses are translated into errors of ours by one table. In a bulk request busy actions are retried, oversized
requests are split, and each action has an outcome.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ibidem_core.address import Address, redact_text
from ibidem_core.errors import EngineError, NoIndex, Permanent, Unavailable
from ibidem_engines.requests import ApiRequest, Json, RequestFlow, T, Target, run_sync

MAX_REQUESTS = 64.0  # requests at once from which none is held back; more threads than that no process has


class Throttle:
    """Bounds the concurrent write requests of a process; `rejections` counts those that a busy server rejected.

    Each halves the bound, which then grows again: additive increase and multiplicative decrease (Chiu and Jain, 1989).

    >>> throttle = Throttle()
    >>> with throttle(), throttle():
    ...     throttle.reject()
    >>> throttle.limit, throttle.rejections
    (1.0, 1)
    >>> with throttle():
    ...     pass
    >>> throttle.limit
    2.0
    """

    def __init__(self) -> None:
        self.limit, self.rejections = MAX_REQUESTS, 0
        self._under_way = 0
        self._condition = threading.Condition()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait for a free slot, and hold it while the block sends a request."""
        with self._condition:
            self._condition.wait_for(lambda: self._under_way + 1 <= self.limit)
            self._under_way += 1
            rejections = self.rejections
        try:
            yield
            with self._condition:
                if self.rejections == rejections:
                    self.limit = min(MAX_REQUESTS, self.limit + 1 / self.limit)
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify_all()

    def reject(self) -> None:
        """Record a rejection: the bound is halved, but at least one."""
        with self._condition:
            self.rejections += 1
            self.limit = max(1.0, self._under_way // 2)


# Type of an error when no server named one.
UNREACHABLE = "unreachable"
TIMEOUT = "timeout"
CERTIFICATE = "certificate"
OTHER_PRODUCT = "other product"
UNREADABLE = "unreadable"
SHARDS = "shards"

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
KINDS = {
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

# By the first words of the reason, under a type that may mean anything.
REASONS = {
    "no node found for id": _CURSOR,
    "No space left on device": Fault(Unavailable, "the disk of a node is full", "free space on it, then try again"),
}

# `cluster_block_exception`, by the status.
BLOCKS = {
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
STATUSES = {
    401: Fault(
        Permanent, "it rejects this user and password (or API key)", "correct them in IBIDEM_ENGINE: user:password@"
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


def find_fault(failure: Failure) -> Fault:
    if failure.kind == "cluster_block_exception" and failure.status in BLOCKS:
        return BLOCKS[failure.status]
    by_status = STATUSES.get(failure.status, Fault(Permanent, "", ""))
    by_reason = (fault for words, fault in REASONS.items() if failure.reason.startswith(words))
    return KINDS.get(failure.kind) or next(by_reason, by_status)


def to_engine_error(failure: Failure, location: str) -> EngineError:
    """Create one of our errors.

    >>> str(to_engine_error(Failure(404, "index_not_found_exception", "no such index [news]"), "opensearch+http://host:9200"))
    'opensearch+http://host:9200: no such index [news]; create the index with: ibidem ingest PATH'
    """
    fault = find_fault(failure)
    message = f"status {failure.status}: {failure.reason}" if failure.status else failure.reason
    text = f"{fault.what} ({message})" if fault.what else failure.reason or message
    return fault.error(f"{location}: {text}", fault.remedy)


def is_failure(error: EngineError, *statuses: int) -> bool:
    return isinstance(error.__cause__, Failure) and error.__cause__.status in statuses


@contextmanager
def unless_failure(*statuses: int) -> Iterator[None]:
    """Go on after a request that failed with one of some statuses."""
    try:
        yield
    except Permanent as error:
        if not is_failure(error, *statuses):
            raise


def build_failure(status: int, answer: object, secret_values: Collection[str] = ()) -> Failure:
    """Read type and reason from an answer's `error`: the innermost cause that has both.

    A refresh that a stalled replica missed carries no error.

    >>> build_failure(404, {"error": {"type": "outer", "root_cause": [{"type": "inner", "reason": "why"}]}}).kind
    'inner'
    """
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if not isinstance(error, Mapping):
        return Failure(status, _shards_kind(answer), _reason(error or answer or "", secret_values))
    roots, cause = error.get("root_cause"), error.get("caused_by")
    if isinstance(roots, list) and roots and isinstance(roots[0], Mapping):
        cause = roots[0]
    elif error.get("reason") or not isinstance(cause, Mapping):
        cause = error
    reason = cause.get("reason") or error.get("reason") or ""
    return Failure(status, str(cause.get("type", "")), _reason(reason, secret_values))


def read_responses(answer: Json) -> list[Json]:
    """Return the responses of several searches as those of single ones; raise if one failed."""
    for each in answer["responses"]:
        if "error" in each:
            raise build_failure(int(each["status"]), each)
    return [{name: part for name, part in each.items() if name != "status"} for each in answer["responses"]]


def read_docs(docs: Iterable[Json], params: Mapping[str, str], absent_kinds: Collection[str] = ()) -> RequestFlow[Any]:
    """Read documents by `_mget`; raise if one is neither found nor missing, except for some types of errors."""
    answer = yield ApiRequest("POST", "/_mget", params, {"docs": list(docs)})
    for each in answer["docs"]:
        failure = build_failure(503, each) if "error" in each else None
        if failure is not None and failure.kind not in absent_kinds:
            raise failure
    return answer


def _shards_kind(answer: object) -> str:
    """Return the type of a failed refresh: a retry may reach all copies, unless a shard itself failed."""
    shards = answer.get("_shards") if isinstance(answer, Mapping) else None
    if not isinstance(shards, Mapping):
        return ""
    failures = [each for each in shards.get("failures") or () if isinstance(each, Mapping)]
    return "" if any(BROKEN_SHARD in _types(each.get("reason")) for each in failures) else SHARDS


def _types(cause: object) -> Iterator[object]:
    while isinstance(cause, Mapping):
        yield cause.get("type")
        cause = cause.get("caused_by")


def unanswered(
    error: Exception, kinds: Sequence[tuple[type[Exception], str]], text: str, secret_values: Collection[str]
) -> Failure:
    """Convert a client's exception without a server's answer, by a table of those that are known."""
    kind = next((name for class_, name in kinds if isinstance(error, class_)), "")
    return Failure(0, kind, redact_text(text, secret_values))


def _reason(text: object, secret_values: Collection[str]) -> str:
    """Redact secrets before the text is shortened, so that no part of a secret remains."""
    return (redact_text(str(text), secret_values) if secret_values else str(text))[:500]


class Transport(Protocol):
    """One official client."""

    def send(self, request: ApiRequest) -> object:
        """Send one request and return its JSON, or raise `Failure`."""

    def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How Elasticsearch and OpenSearch differ."""

    product: str  # as people write it
    min_version: tuple[int, ...]  # oldest version that is understood, as its first numbers
    point_path: str  # path behind an index that opens a point in time, and by itself closes one
    open_whole: Mapping[str, str]  # parameters that require all shards when a point in time is opened
    point_id: str  # where the answer that opens one, and the request that closes it, hold its id
    offset_limit: str  # option of a highlight that keeps a long text from failing the request


BULK = "/_bulk"  # where writes go

WAITS_S = (0.1, 0.4, 1.6)  # seconds before the second, third and fourth try, each lengthened by up to a half

CONNECTIONS = 32  # maximum pooled connections per node


class ClusterClient:
    """A cluster, with one set of connections per process, shared by its threads.

    `resend_count` counts further tries of this thread: one before may have done what it asked for, though its answer
    did not come. `throttle` bounds the writes of all threads.
    """

    def __init__(self, address: Address, dialect: Dialect, connect: Callable[[Address], Transport]) -> None:
        self.address, self.dialect, self.label = address, dialect, address.label
        self.waits: tuple[float, ...] = WAITS_S
        self.throttle = Throttle()
        self._of_thread = threading.local()
        self._connect = connect
        self._wire: Transport | None = None
        self._pid = 0
        self._connecting = threading.Lock()

    @property
    def resend_count(self) -> int:
        return int(getattr(self._of_thread, "resend_count", 0))

    def ask(self, method: str, path: str, body: Json | None = None, /, **params: str) -> Any:
        """Send a request with a JSON body and return the response."""
        return self.send(ApiRequest(method, path, params, body))

    def search(self, index: str, body: Json, /, **params: str) -> Any:
        """Search an index; all of its shards have to answer."""
        return self.send(Target(index, params=params).search(body))

    def hold(self, flow: RequestFlow[T]) -> T:
        """Send every request of a flow, and return its result."""
        try:
            return run_sync(flow, self.send)
        except Failure as failure:
            raise to_engine_error(failure, self.label) from failure

    def wait(self, turn: int) -> None:
        """Wait before the next try, for a random time so that clients do not all retry at once."""
        time.sleep(self.waits[turn] * (1 + secrets.randbelow(500) / 1000))

    def close(self) -> None:
        if self._wire is not None and self._pid == os.getpid():
            self._wire.close()
        self._wire = None

    def send(self, request: ApiRequest) -> Any:
        """Send one request, again where that may help; an error status that it allows is an empty response."""
        turn = 0
        while True:
            try:
                return self._send_once(request)
            except Failure as failure:
                fault = find_fault(failure)
                if failure.status == TOO_MANY_REQUESTS and request.path == BULK:
                    self.throttle.reject()
                if failure.status in request.ok_statuses and issubclass(fault.error, Permanent):
                    return {}
                if turn == len(self.waits) or not fault.soon:
                    raise to_engine_error(failure, self.label) from failure
            self.wait(turn)
            turn += 1
            self._of_thread.resend_count = self.resend_count + 1

    def _send_once(self, request: ApiRequest) -> dict[str, Any]:
        """Send a request once; a response that is not a JSON object does not come from these servers."""
        with self._connecting:  # one that was inherited by a fork is not used, since it shares connections
            if self._wire is None or self._pid != os.getpid():
                self._wire, self._pid = self._connect(self.address), os.getpid()
            wire = self._wire
        answer = wire.send(request)
        if not isinstance(answer, dict):
            raise Failure(0, UNREADABLE, f"{request.method} {request.path}: {str(answer)[:100]}")
        return answer


MAX_BYTES = 8 << 20
MAX_ACTIONS = 2_000
TOO_LARGE = 413
TOO_MANY_REQUESTS = 429
BAD_REQUEST = 400
FORBIDDEN = 403
CONFLICT = 409
OF_THE_INDEX = frozenset(("index_not_found_exception", "index_closed_exception"))  # refusals of a whole request
NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a bulk request."""

    verb: str  # `create`, `index`, `update` or `delete`
    index: str  # the index, or an alias that writes into one
    id: str  # the document's id
    body: bytes | None = None  # the line that follows, as JSON; None for a deletion
    # Sequence number and primary term of the state that it acts on; another state is a conflict.
    state: tuple[int, int] | None = None
    routing: str = ""  # value that chooses the document's shard instead of its id; empty for the id
    # The engine's own version that the document is to have; an older one than what is stored is a conflict.
    version: int | None = None
    skips_pipeline: bool = False  # whether the index's default pipeline is passed by

    @property
    def lines(self) -> list[Json | orjson.Fragment]:
        head: dict[str, object] = {"_index": self.index, "_id": self.id}
        if self.state:
            head |= {"if_seq_no": self.state[0], "if_primary_term": self.state[1]}
        if self.routing:
            head["routing"] = self.routing
        if self.version is not None:
            head |= {"version": self.version, "version_type": "external_gte"}
        if self.skips_pipeline:
            head["pipeline"] = "_none"
        return [{self.verb: head}, *([] if self.body is None else [orjson.Fragment(self.body)])]


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    status: int  # HTTP status of the action: 200, 201, 400, 404 (nothing there to delete), 409 (another state)
    place: int = -1  # sequence number of the write; -1 when nothing was written
    reason: str = ""  # why it was refused, in the server's words
    term: int = 0  # primary term of the write


def run(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
    """Run actions, in requests of some megabytes."""
    return [outcome for part in _parts(actions) for outcome in _run_part(cluster, part)]


def _parts(actions: Sequence[Action]) -> Iterator[list[Action]]:
    part: list[Action] = []
    size = 0
    for action in actions:
        length = len(action.body or b"")
        if part and (size + length > MAX_BYTES or len(part) == MAX_ACTIONS):
            yield part
            part, size = [], 0
        part.append(action)
        size += length
    if part:
        yield part


def _run_part(cluster: ClusterClient, actions: Sequence[Action], turn: int = 0) -> list[ActionOutcome]:
    """Run the actions of one request; actions that a busy server rejects are retried."""
    with cluster.throttle():
        items = _send(cluster, actions)
        busy = {at: item for at, item in enumerate(items) if isinstance(item, Failure)}
        if any(failure.status == TOO_MANY_REQUESTS for failure in busy.values()):
            cluster.throttle.reject()
    again: list[ActionOutcome] = []
    if busy:
        if turn == len(cluster.waits):
            raise to_engine_error([*busy.values()][-1], cluster.label)
        cluster.wait(turn)
        again = _run_part(cluster, [actions[at] for at in busy], turn + 1)
    retried = iter(again)
    return [next(retried) if isinstance(item, Failure) else item for item in items]


def _send(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome | Failure]:
    """Send one request; if it is too large for the server, in halves."""
    try:
        answer = cluster.send(ApiRequest("POST", BULK, lines=[line for action in actions for line in action.lines]))
    except Permanent as error:
        if not is_failure(error, TOO_LARGE):
            raise
        if len(actions) == 1:
            reason = f"{len(actions[0].body or b''):,} bytes are more than the server accepts"
            return [ActionOutcome(TOO_LARGE, reason=reason)]
        half = len(actions) // 2
        return _send(cluster, actions[:half]) + _send(cluster, actions[half:])
    return [_item(next(iter(item.values())), cluster.label) for item in answer["items"]]


def _item(item: Json, location: str) -> ActionOutcome | Failure:
    """Read the result of one action; a temporary failure is returned, an error of the whole request is raised."""
    status = int(item["status"])
    if "error" not in item:
        return ActionOutcome(status, int(item.get("_seq_no", -1)), term=int(item.get("_primary_term", 0)))
    failure = build_failure(status, item)
    cause = item["error"].get("caused_by") if isinstance(item["error"], Mapping) else None
    if isinstance(cause, Mapping) and cause.get("reason"):  # of a document that cannot be parsed
        failure = Failure(status, failure.kind, f"{failure.reason}: {cause['reason']}")
    if failure.kind == "document_missing_exception":
        return ActionOutcome(CONFLICT, reason=failure.reason)
    if status == CONFLICT or (status == BAD_REQUEST and failure.kind not in OF_THE_INDEX):
        return ActionOutcome(status, reason=failure.reason)
    if find_fault(failure).soon:
        return failure
    raise to_engine_error(failure, location)
