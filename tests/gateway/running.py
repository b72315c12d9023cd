"""The gateway as a server of its own, for clients that speak HTTP."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ibidem.gateway.app import make_gateway
from ibidem_workers.settings import Settings


@contextmanager
def running(settings: Settings) -> Iterator[str]:
    """Answer on a free port until the block ends; gives the address."""
    server = uvicorn.Server(uvicorn.Config(make_gateway(settings), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
