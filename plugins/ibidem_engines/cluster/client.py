"""Cluster client: sends JSON requests through an official client, with retries; differences of the two engines."""

import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import orjson

from ibidem_engines.cluster.errors import UNREADABLE, Failure, find_fault, to_engine_error
from ibidem_engines.cluster.requests import ApiRequest, RequestFlow, T, run_sync
from ibidem_engines.errors import Permanent

JSON = "application/json"
LINES = "application/x-ndjson"
WAITS_S = (0.1, 0.4, 1.6)
"""Seconds before the second, third and fourth try, each lengthened by up to a half."""

NOTHING: Mapping[str, str] = MappingProxyType({})


class Answer(dict[str, Any]):
    """An answer's JSON, and the text that it was read from, for what has to stay as it is to the byte.

    Args:
        read: The object.
        text: Its JSON.
    """

    __slots__ = ("text",)

    def __init__(self, read: Mapping[str, Any], text: str | bytes) -> None:
        super().__init__(read)
        self.text = text


class Transport(Protocol):
    """One official client."""

    def send(self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None) -> object:
        """Send one request and return its JSON, or raise `Failure`."""

    def close(self) -> None:
        """Close its connections."""


class ClusterClient:
    """A cluster as every process sees it, with connections of its own for each.

    Args:
        shown: Its address without secrets.
        connect: Makes a client; nothing is connected yet.
        waits: Seconds to wait before each further try.
        search_parts: What each search says besides, so that nothing around an index changes what is read of it.

    `sent_again` counts further tries: one before may have done what it asked for, though its answer did not come.
    """

    def __init__(
        self,
        shown: str,
        connect: Callable[[], Transport],
        waits: tuple[float, ...] = WAITS_S,
        search_parts: Mapping[str, str] = NOTHING,
    ) -> None:
        self.shown = shown
        self.waits = waits
        self._search_parts = search_parts
        self.sent_again = 0
        self._connect = connect
        self._wire: Transport | None = None
        self._pid = 0

    def ask(self, method: str, path: str, body: object = None, /, **params: str) -> Any:
        """Send a request with a JSON body and return the answer."""
        if self._search_parts and path.endswith("/_search"):
            body = {**self._search_parts, **(body if isinstance(body, Mapping) else {})}
        return self._patiently(method, path, params, JSON, None if body is None else orjson.dumps(body))

    def ask_lines(self, path: str, lines: Iterable[bytes], /, **params: str) -> Any:
        """Post one JSON value a line and return the answer."""
        return self._patiently("POST", path, params, LINES, b"".join(line + b"\n" for line in lines))

    def hold(self, flow: RequestFlow[T]) -> T:
        """Send every request of a flow, and return what comes of it."""
        try:
            return run_sync(flow, self._send)
        except Failure as failure:
            raise to_engine_error(failure, self.shown) from failure

    def wait(self, turn: int) -> None:
        """Wait before try number `turn` + 1; not all at the same moment."""
        time.sleep(self.waits[turn] * (1 + secrets.randbelow(500) / 1000))

    def close(self) -> None:
        """Close this process's connections."""
        if self._wire is not None and self._pid == os.getpid():
            self._wire.close()
        self._wire = None

    def _send(self, ask: ApiRequest) -> Any:
        try:
            if ask.lines is not None:
                return self.ask_lines(ask.path, map(orjson.dumps, self._lines(ask)), **ask.params)
            return self.ask(ask.method, ask.path, ask.body, **ask.params)
        except Permanent as error:
            cause = error.__cause__
            if not (isinstance(cause, Failure) and cause.status in ask.passed_over):
                raise
            return {}

    def _lines(self, ask: ApiRequest) -> Iterable[Mapping[str, Any]]:
        """Give a request's lines; among several searches each second one is a body."""
        lines = ask.lines or ()
        if not ask.path.endswith("/_msearch"):
            return lines
        return [{**self._search_parts, **line} if at % 2 else line for at, line in enumerate(lines)]

    def _patiently(
        self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None
    ) -> object:
        turn = 0
        while True:
            try:
                return self._once(method, path, params, content_type, body)
            except Failure as failure:
                if turn == len(self.waits) or not find_fault(failure).soon:
                    raise to_engine_error(failure, self.shown) from failure
            self.wait(turn)
            turn += 1
            self.sent_again += 1

    def _once(
        self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None
    ) -> dict[str, Any]:
        """Send a request once; each answer of these servers is an object, so what is none comes from another."""
        answer = self._client().send(method, path, params, content_type, body)
        if not isinstance(answer, dict):
            raise Failure(0, UNREADABLE, f"{method} {path}: {str(answer)[:100]}")
        return answer

    def _client(self) -> Transport:
        """Give this process's client; one inherited by a fork is left alone, since its connections are the parent's."""
        if self._wire is None or self._pid != os.getpid():
            self._wire, self._pid = self._connect(), os.getpid()
        return self._wire


@dataclass(frozen=True, slots=True)
class Dialect:
    """One of the two.

    Args:
        name: As in addresses, and in the names of mappings.
        product: As people write it.
        least: Oldest major version that is understood.
        open_point: Path that opens a point in time.
        open_whole: Parameters with which none is opened that lacks a part of the index.
        opened_as: Where the answer holds its id.
        close_point: Path that closes one.
        closed_as: Where the request holds its id.
        offset_limit: Option of a highlight that keeps a long text from failing the request.
    """

    name: str
    product: str
    least: int
    open_point: str
    open_whole: Mapping[str, str]
    opened_as: str
    close_point: str
    closed_as: str
    offset_limit: str
