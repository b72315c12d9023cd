"""Server of the gateway: listens on an address, with one process or several."""

import contextlib
import gc
import os
import socket
from collections.abc import Callable, Iterable, Sequence

import uvicorn

from ibidem.gateway.app import make_gateway
from ibidem.gateway.connections import Connections
from ibidem.gateway.processes import Work, run_processes
from ibidem_core import logs
from ibidem_core.settings import Settings
from ibidem_ingest.errors import UsageError

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound by itself
SECONDS_TO_END = 10
BACKLOG = 2_048
RARELY = (50_000, 20, 50)


Listening = tuple[str, int]  # host and port


def serve(
    settings: Settings,
    listening_at: Listening,
    ready: Callable[[str], None] = lambda _: None,
    processes: int = 1,
    companions: Sequence[Work] = (),
) -> None:
    """Serve requests until SIGTERM; running requests are finished first.

    Each answer is a line of the log: method, path, status and time; what people search for is in none.
    """
    logs.set_up(settings, "info")
    host, port = listening_at
    listening = listen(host, port)
    name = f"[{host}]" if ":" in host else host

    def serve_here() -> None:
        """Serve in the current process."""
        server = make_server(settings, () if host in EVERYWHERE else (name,))
        spare_the_collector()
        with contextlib.suppress(KeyboardInterrupt):
            server.run([listening])

    ready(f"http://{'127.0.0.1' if host in EVERYWHERE else name}:{port}/")
    with listening:
        if processes == 1 and not companions:
            serve_here()
        else:
            run_processes([*[serve_here] * processes, *companions])


def make_server(settings: Settings, hosts: Iterable[str] = ()) -> uvicorn.Server:
    """Create the server of a gateway; it does not listen yet."""
    config = uvicorn.Config(
        make_gateway(settings, hosts),
        http=Connections(settings).make,  # type: ignore[arg-type] # it is called as a class would be
        log_config=None,  # uvicorn's logs go through our logging
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    return uvicorn.Server(config)


def spare_the_collector() -> None:
    """Make garbage collection rare, since each search creates thousands of objects without cycles.

    With the thresholds that it starts with it would look at all of them every few searches, for a sixth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARELY)


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port} ({os.strerror(error.errno) if error.errno else error})",
            "choose another with --host or --port",
        ) from error
