"""The gateway as a server of its own, for clients that speak HTTP."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ibidem_core.settings import Settings
from ibidem_gateway.app import make_gateway
from servers.fake_server import Between, Plan, between


@contextmanager
def run_gateway(settings: Settings) -> Iterator[str]:
    """Answer on a free port until the block ends; gives the address."""
    server = uvicorn.Server(uvicorn.Config(make_gateway(settings), log_config=None, access_log=False))
    listening = socket.create_server(("127.0.0.1", 0), backlog=2_048)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@contextmanager
def gateway_before(plan: Plan) -> Iterator[tuple[Between, str]]:
    """Start an engine that answers by a plan, and the gateway before it; gives both."""
    with between(plan=plan) as engine, run_gateway(Settings(engine=engine.address("opensearch"))) as url:
        yield engine, url
