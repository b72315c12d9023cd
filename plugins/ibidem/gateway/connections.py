"""Connections of the gateway: the maximum per address, and the timeout for request headers."""

import asyncio
import ipaddress
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ibidem_core.settings import Settings

SPARE_FILES = 256  # files that are left for all else than connections

LATE, FULL = 408, 429


class Connections:
    """The open connections of a server, by address."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._connections: dict[str, dict[Connection, None]] = {}
        self._all: dict[Connection, None] = {}
        self._limit = max(SPARE_FILES, raise_file_limit() - SPARE_FILES)

    def make(self, *parts: Any, **options: Any) -> "Connection":
        """Create a connection, as the server does."""
        return Connection(self, *parts, **options)

    def add(self, connection: "Connection") -> bool:
        """Register a connection; if there are too many, an idle one is closed."""
        neighbours = self._connections.setdefault(connection.network, {})
        for connections, limit in ((neighbours, self.settings.gateway_connections), (self._all, self._limit)):
            if len(connections) >= limit:
                oldest = next((each for each in connections if each.is_unfinished), None)
                if oldest is None:
                    return False
                oldest.drop()
        self._connections.setdefault(connection.network, {})[connection] = None
        self._all[connection] = None
        return True

    def remove(self, connection: "Connection") -> None:
        """Remove a connection."""
        self._all.pop(connection, None)
        neighbours = self._connections.get(connection.network, {})
        neighbours.pop(connection, None)
        if not neighbours:
            self._connections.pop(connection.network, None)


class Connection(HttpToolsProtocol):
    """A connection whose requests have to arrive in time."""

    def __init__(self, registry: Connections, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._registry = registry
        self._timer: asyncio.TimerHandle | None = None
        self.network = ""

    @property
    def is_unfinished(self) -> bool:
        """Whether a request has not arrived completely."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, or reject it."""
        super().connection_made(transport)
        self.network = caller_network(self.client[0] if self.client else "")
        if self._registry.add(self):
            self._wait()
        else:
            self._end(FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self._registry.remove(self)
        self._cancel_timer()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Start a request: its headers arrived in time."""
        self._cancel_timer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self.is_unfinished:
            self._wait()

    def drop(self) -> None:
        """Close the connection to make room for another."""
        self._registry.remove(self)
        self._end(LATE)

    def _wait(self) -> None:
        self._cancel_timer()
        self._timer = self.loop.call_later(self._registry.settings.gateway_arrival, self._end, LATE)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, status: int) -> None:
        """Close the connection, with an error status if no response was started."""
        if self.transport.is_closing():
            return
        if self.cycle is None:
            self.transport.write(STATUS_LINE[status] + b"connection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()


def caller_network(address: str) -> str:
    """Return the network that identifies a caller: an IPv4 address, or the IPv6 network assigned to one caller.

    >>> caller_network("2001:db8::1") == caller_network("2001:db8::ffff:1"), caller_network("10.0.0.1")
    (True, '10.0.0.1')
    """
    try:
        read = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ipaddress.ip_network((read, 64), strict=False)) if read.version == 6 else address


def raise_file_limit() -> int:
    """Raise this process's limit of open files to the maximum, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in {soft, resource.RLIM_INFINITY}:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft if soft != resource.RLIM_INFINITY else 1 << 16
