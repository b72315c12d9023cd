"""Requests that write documents: found by their path, and sent on with the documents signed."""

import logging
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from ibidem.gateway.metrics import Metrics
from ibidem.gateway.signing.bulk import LONGEST, decompress, signed_bulk
from ibidem.gateway.signing.indexes import SignedIndexes
from ibidem.gateway.signing.pool import SigningPool
from ibidem.gateway.signing.writer import DocumentWriter, Write
from ibidem.gateway.upstream import Caller, Upstream
from ibidem_core.settings import Settings

LOG = logging.getLogger(__name__)

_PATH = re.compile(r"/(?:(?P<index>[^/]+)/)?(?P<action>_bulk|_create|_doc|_update)(?:/(?P<id>[^/]+))?")

BULK, DOC, UPDATE = "_bulk", "_doc", "_update"
FORMS = ("json", "x-ndjson")
REWRITTEN = ("content-encoding", "content-length")
COUNTED_BY_ITSELF = ("signed", "same")


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """A request that writes documents.

    Args:
        action: The part of its path that says so.
        index: Name of the index; empty where each document names its own.
        id: The document's id; empty for several, or where the engine is to give one.
        parameters: Of the query string.
    """

    action: str
    index: str
    id: str
    parameters: Mapping[str, str]

    @classmethod
    def parse(cls, method: str, target: str) -> "DocumentRequest | None":
        """Read a path and query string; None where they write no document.

        >>> DocumentRequest.parse("PUT", "/news/_doc/a%2Fb?routing=x").id
        'a/b'
        """
        path, _, query = target.partition("?")
        match = _PATH.fullmatch(path)
        if method not in ("POST", "PUT") or match is None:
            return None
        index, action, id_ = (unquote(match[name] or "") for name in ("index", "action", "id"))
        fits = not id_ if action == BULK else bool(index and (id_ or (action == DOC and method == "POST")))
        if not fits:
            return None
        return cls(action, index, id_, dict(parse_qsl(query, keep_blank_values=True)))

    @property
    def operation(self) -> str:
        """Operation on its document, as `_bulk` names it."""
        return UPDATE.removeprefix("_") if self.action == UPDATE else "index"

    @property
    def meta(self) -> dict[str, Any]:
        """Metadata of each document from path and query string."""
        names = ("pipeline", "routing", "if_seq_no", "if_primary_term", "version", "retry_on_conflict")
        meta: dict[str, Any] = {name: self.parameters[name] for name in names if name in self.parameters}
        return meta | ({"_index": self.index} if self.index else {}) | ({"_id": self.id} if self.id else {})

    def target(self, meta: Mapping[str, object]) -> str:
        """Write path and query string with further metadata of the document.

        Args:
            meta: Its id, or a state, by the names that they have in `_bulk`.
        """
        additions = {name: str(value) for name, value in meta.items() if name != "_id"}
        if "_id" in meta and "op_type" not in self.parameters:
            additions["op_type"] = "create"  # as the engine itself writes what it gives an id
        id_ = str(meta.get("_id", self.id))
        path = "/".join(quote(part, safe="") for part in ("", self.index, self.action, id_))
        parameters = {**self.parameters, **additions}
        return f"{path}?{urlencode(parameters, quote_via=quote)}" if parameters else path


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it goes to the engine.

    Args:
        target: Path and query string.
        headers: Its headers.
        body: Gives its body.
    """

    target: str
    headers: list[tuple[str, str]]
    body: AsyncIterator[bytes]


class Signing:
    """Signs what is written through one gateway.

    Args:
        settings: The settings in force.
        upstream: The engine.
        metrics: Where signed and unsigned documents are counted.
    """

    def __init__(self, settings: Settings, upstream: Upstream, metrics: Metrics) -> None:
        self._upstream = upstream
        self._metrics = metrics
        self._indexes = SignedIndexes(upstream, settings.tables)
        self._pool = SigningPool(settings)

    def close(self) -> None:
        """End the processes that sign."""
        self._pool.close()

    def refresh_indexes(self, method: str, target: str) -> None:
        """Ask again which indexes are signed, behind a request that may have made, changed or removed one.

        Args:
            method: Its method.
            target: Path and query string.
        """
        changes = method in ("DELETE", "PUT") or target.startswith("/_aliases")
        if changes and DocumentRequest.parse(method, target) is None:
            self._indexes.forget()

    async def outgoing(
        self, method: str, target: str, headers: list[tuple[str, str]], body: AsyncIterator[bytes]
    ) -> Outgoing:
        """Return a request with its documents signed; one that writes none to a signed index as it is.

        Args:
            method: Its method.
            target: Path and query string, encoded.
            headers: Its headers, names in small letters.
            body: Gives its body as it comes.

        Raises:
            HttpError: The body cannot be unpacked, or the engine does not answer.
        """
        read, passthrough = DocumentRequest.parse(method, target), Outgoing(target, headers, body)
        if read is None:
            return passthrough
        headers_by_name = dict(headers)
        caller = Caller.read(headers_by_name)
        if read.index and read.action != BULK and not (await self._indexes.get(read.index, caller)).is_signed:
            return passthrough
        way = headers_by_name.get("content-encoding", "identity").strip().lower()
        if not takes(headers_by_name.get("content-type", "")) or way not in ("identity", "gzip"):
            self._metrics.unsigned_writes.labels("form").inc()
            return passthrough
        remaining = [(name, value) for name, value in headers if name not in REWRITTEN]
        content = decompress(body) if way == "gzip" else body
        writer = DocumentWriter(self._upstream, self._indexes, self._pool, caller)
        if read.action == BULK:
            return Outgoing(target, remaining, self._count_body(signed_bulk(content, read.meta, writer), read, writer))
        return await self._sign_single(read, target, remaining, content, writer)

    async def _sign_single(
        self,
        read: DocumentRequest,
        target: str,
        headers: list[tuple[str, str]],
        parts: AsyncIterator[bytes],
        writer: DocumentWriter,
    ) -> Outgoing:
        """Sign one document; one that is too long goes on as it comes."""
        body = bytearray()
        async for part in parts:
            body += part
            if len(body) > LONGEST:
                writer.fates["length"] += 1
                return Outgoing(target, headers, self._count_body(chain_parts(bytes(body), parts), read, writer))
        (outcome,) = await writer.sign([Write.parse(read.operation, read.meta, bytes(body))])
        where = read.target(outcome.meta) if outcome.meta else target
        return Outgoing(where, headers, self._count_body(chain_parts(outcome.body), read, writer))

    async def _count_body(
        self, body: AsyncIterator[bytes], read: DocumentRequest, writer: DocumentWriter
    ) -> AsyncIterator[bytes]:
        """Give a body, and count at its end what became of its documents."""
        try:
            async for part in body:
                yield part
        finally:
            self._count(read, writer)

    def _count(self, read: DocumentRequest, writer: DocumentWriter) -> None:
        self._metrics.signed_writes.inc(writer.fates["signed"])
        unsigned = {fate: count for fate, count in writer.fates.items() if count and fate not in COUNTED_BY_ITSELF}
        for fate, count in unsigned.items():
            self._metrics.unsigned_writes.labels(fate).inc(count)
        if unsigned:
            event = {"path": f"/{read.index}/{read.action}", "signed": writer.fates["signed"]} | unsigned
            LOG.warning("documents passed on without signatures", extra=event)


def takes(content_type: str) -> bool:
    """Return whether bodies of a form are read.

    >>> takes("application/vnd.elasticsearch+x-ndjson; compatible-with=9"), takes("application/smile")
    (True, False)
    """
    kind = content_type.partition(";")[0].strip().lower()
    return any(kind == f"application/{form}" or kind.endswith(f"+{form}") for form in FORMS)


async def chain_parts(first: bytes, parts: AsyncIterator[bytes] | None = None) -> AsyncIterator[bytes]:
    """Give some bytes, and then what comes."""
    if first:
        yield first
    if parts is not None:
        async for part in parts:
            yield part
