"""Writes of a request: what is known of each document and its index, and the signatures that it gets."""

import base64
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from ibidem.gateway.signing.documents import Fate, PartialWrite, WholeWrite, Written
from ibidem.gateway.signing.indexes import IndexState, SignedIndexes
from ibidem.gateway.signing.pool import SigningPool
from ibidem.gateway.upstream import Caller, Upstream

MOST_KEYS = 1_000_000
"""Documents of one request that are remembered; updates behind these are not signed."""

MOST_READ = 200
"""Documents that are read at once."""

UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Write:
    """A document on its way to an index.

    Args:
        operation: `index`, `create` or `update`; empty for what is not looked into.
        index: Name of the index.
        id: The document's id; empty where the engine is to give one.
        routing: Value that chooses its shard, where that is not the id.
        pipeline: The pipeline that it goes through; empty for that of the index.
        conditional: Whether it is written onto one state only.
        retries: Whether the engine is to try an update again that another writer came before.
        body: The document, or the body of an update.
        obstacle: Why it cannot be signed, whatever its index is.
    """

    operation: str
    index: str = ""
    id: str = ""
    routing: str = ""
    pipeline: str = ""
    conditional: bool = False
    retries: bool = False
    body: bytes = b""
    obstacle: Fate | Literal[""] = ""

    @classmethod
    def parse(cls, operation: str, meta: Mapping[str, Any], body: bytes) -> "Write":
        """Read what a request says of a document.

        Args:
            operation: What it does.
            meta: Parameters, by the names that they have in `_bulk`.
            body: The document.

        >>> Write.parse("index", {"_index": "news", "_id": 7}, b"{}").id
        '7'
        """
        id_ = meta.get("_id", "")
        has_id = isinstance(id_, str | int) and not isinstance(id_, bool)
        retries = str(meta.get("retry_on_conflict", "0"))
        return cls(
            operation,
            _text(meta, "_index"),
            str(id_) if has_id else "",
            _text(meta, "routing"),
            _text(meta, "pipeline"),
            conditional=any(name in meta for name in ("if_seq_no", "if_primary_term", "version")),
            retries=retries != "0",
            body=body,
            obstacle="" if has_id else "id",
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """A document as it goes on.

    Args:
        body: The document, or the body of an update.
        meta: Further metadata: an id that was made for it, the state that its update was signed for.
    """

    body: bytes
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class DocumentWriter:
    """Signs the documents of one request.

    Args:
        upstream: The engine.
        indexes: Knows which indexes are signed.
        pool: Signs.
        caller: User who writes.
        fates: Outcomes of the documents.
    """

    upstream: Upstream
    indexes: SignedIndexes
    pool: SigningPool
    caller: Caller
    fates: Counter[Fate] = field(default_factory=Counter)
    _keys: set[int] = field(default_factory=set)

    async def sign(self, writes: Sequence[Write]) -> list[Outcome]:
        """Sign documents; what cannot be signed goes on without signatures.

        Args:
            writes: The documents, in their order.

        Raises:
            HttpError: The engine does not answer.
        """
        earlier = [self._is_repeat(each) for each in writes]
        states = {name: await self.indexes.get(name, self.caller) for name in {each.index for each in writes}}
        outcomes = [Outcome(each.body) for each in writes]
        planned: dict[int, Write] = {}
        for at, each in enumerate(writes):
            state = states[each.index]
            if state.obstacle == "rights" and each.operation:
                self.fates["rights"] += 1
            elif state.is_signed and each.body:
                planned[at] = _assign_id(each, state, earlier=earlier[at])
        read = await self._read([each for each in planned.values() if each.operation == UPDATE and not each.obstacle])
        documents = [_to_written(each, states[each.index], read) for each in planned.values()]
        results = await self.pool.sign(documents) if documents else []
        for (at, each), result in zip(planned.items(), results, strict=True):
            self.fates[result.fate] += 1
            meta: dict[str, object] = {"_id": each.id} if each.id != writes[at].id else {}
            if each.operation == UPDATE and result.fate == "signed" and not each.conditional:
                meta |= read[_key(each)].state
            outcomes[at] = Outcome(result.body, meta)
        return outcomes

    def _is_repeat(self, write: Write) -> bool:
        """Return whether this request wrote to a document before: what is read of it is then no longer so."""
        if not write.operation or not write.id:
            return False
        key = hash(_key(write))
        if key in self._keys:
            return True
        if len(self._keys) >= MOST_KEYS:
            return True
        self._keys.add(key)
        return False

    async def _read(self, writes: Sequence[Write]) -> "dict[tuple[str, str], _StoredState]":
        """Read the documents that are changed by updates."""
        documents: dict[tuple[str, str], _StoredState] = {}
        for begin in range(0, len(writes), MOST_READ):
            batch = writes[begin : begin + MOST_READ]
            docs = [{"_index": each.index, "_id": each.id} | _routing_parameter(each) for each in batch]
            headers = [*self.caller.headers, ("accept", "application/json"), ("content-type", "application/json")]
            reply = await self.upstream.send("POST", "/_mget", headers, orjson.dumps({"docs": docs}))
            answers = orjson.loads(reply.body)["docs"] if reply.status < 400 else [{"error": {}}] * len(batch)
            documents |= {_key(each): _StoredState.read(answer) for each, answer in zip(batch, answers, strict=True)}
        return documents


@dataclass(frozen=True, slots=True)
class _StoredState:
    """A document as it was read.

    Args:
        source: Its `_source`; empty when there is none.
        state: What another write changes, by the names that `_bulk` has for it.
        is_known: Whether it could be read.
    """

    source: Mapping[str, Any]
    state: Mapping[str, object]
    is_known: bool = True

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "_StoredState":
        """Read the answer to a get."""
        if "error" in document or (document.get("found") and "_source" not in document):
            return cls({}, {}, is_known=False)
        if not document.get("found"):
            return cls({}, {})
        return cls(
            document["_source"], {"if_seq_no": document["_seq_no"], "if_primary_term": document["_primary_term"]}
        )


def _assign_id(write: Write, state: IndexState, *, earlier: bool) -> Write:
    """Give a document an id where it has none, and say why it cannot be signed."""
    obstacle = write.obstacle or state.obstacle
    if not obstacle and write.pipeline != "_none" and (write.pipeline or state.pipeline):
        obstacle = "pipeline"
    if not obstacle and write.operation == UPDATE and (earlier or write.retries):
        obstacle = "order" if earlier else "retry"
    id_ = write.id if write.id or obstacle or write.operation == UPDATE else new_id()
    return replace(write, id=id_, obstacle=obstacle)


def _to_written(write: Write, state: IndexState, read: Mapping[tuple[str, str], _StoredState]) -> Written:
    """Make what a process of the pool signs."""
    body = write.body.rstrip(b"\r\n")
    if write.operation != UPDATE:
        return WholeWrite(write.id, state.layout, body, write.obstacle)
    if write.obstacle:
        return PartialWrite(write.id, state.layout, body, write.obstacle)
    stored_state = read[_key(write)]
    return PartialWrite(write.id, state.layout, body, "" if stored_state.is_known else "read", stored_state.source)


def new_id() -> str:
    """Make an id for a document that its writer gave none: by time, so that the index's list of ids grows at its end.

    >>> len(new_id())
    20
    """
    milliseconds = time.time_ns() // 1_000_000
    return base64.urlsafe_b64encode(milliseconds.to_bytes(6, "big") + secrets.token_bytes(9)).decode()


def _key(write: Write) -> tuple[str, str]:
    return write.index, write.id


def _routing_parameter(write: Write) -> dict[str, str]:
    return {"routing": write.routing} if write.routing else {}


def _text(meta: Mapping[str, Any], name: str) -> str:
    value = meta.get(name, "")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
