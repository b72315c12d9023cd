"""The gateway as a server."""

import contextlib
import gc
import os
import socket
from collections.abc import Callable, Iterable

import uvicorn

from ibidem.gateway.app import make_gateway
from ibidem.gateway.connections import Connections
from ibidem_ingest.errors import UsageError
from ibidem_workers import logs
from ibidem_workers.settings import Settings

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound by itself
SECONDS_TO_END = 10
BACKLOG = 2_048
RARELY = (50_000, 20, 50)


def serve(settings: Settings, host: str, port: int, ready: Callable[[str], None] = lambda _: None) -> None:
    """Answer until the process is told to end; requests that are being answered are finished first.

    Each answer is a line of the log: method, path, status and time; what people search for stands in none.

    Args:
        settings: The settings in force.
        host: Address to listen on.
        port: Port to listen on.
        ready: Called with the address of the page once callers are let in.

    Raises:
        UsageError: The address cannot be listened on.
    """
    logs.set_up(settings, "info")
    listening = listen(host, port)
    name = f"[{host}]" if ":" in host else host
    server = server_of(settings, () if host in EVERYWHERE else (name,))
    spare_the_collector()
    ready(f"http://{'127.0.0.1' if host in EVERYWHERE else name}:{port}/")
    with contextlib.suppress(KeyboardInterrupt), listening:
        server.run([listening])


def server_of(settings: Settings, hosts: Iterable[str] = ()) -> uvicorn.Server:
    """Make the server of a gateway; it listens nowhere yet.

    Args:
        settings: The settings in force.
        hosts: Further names by which the gateway may be called.
    """
    config = uvicorn.Config(
        make_gateway(settings, hosts),
        http=Connections(settings).make,  # type: ignore[arg-type] # it is called as a class would be
        log_config=None,  # it goes the way of all that is logged
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    return uvicorn.Server(config)


def spare_the_collector() -> None:
    """Let Python look for garbage seldom: the window of each search is thousands of objects, none in a circle.

    With the thresholds that it starts with it would look at all of them every few searches, for a sixth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARELY)


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address.

    Raises:
        UsageError: It is another's, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on ({os.strerror(error.errno) if error.errno else error})",
            "choose others: --host, --port",
        ) from error
