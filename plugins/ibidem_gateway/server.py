"""Server of the gateway: uvicorn, with one process or several."""

import asyncio
import contextlib
import gc
import logging
import multiprocessing.process
import os
import resource
import signal
import socket
import threading

import uvicorn
from fastapi import FastAPI
from rich.text import Text
from uvicorn.supervisors import Multiprocess

from ibidem.cli.console import messages
from ibidem_core import logs
from ibidem_core.settings import Settings, load
from ibidem_gateway.app import make_gateway, make_upstream
from ibidem_gateway.errors import HttpError
from ibidem_ingest.errors import UsageError

LOG = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "::1", "localhost")
UNSPECIFIED_HOSTS = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound by itself
BACKLOG = 2_048  # connections that wait to be accepted
SECONDS_TO_END = 10  # for requests that are running when the server is told to end
MAX_CONNECTIONS = 2_000  # of a process; further requests get status 503
GC_THRESHOLDS = (50_000, 20, 50)  # a search creates thousands of objects without cycles


def serve(host: str, port: int, processes: int) -> None:
    """Serve requests until SIGTERM; running requests are finished first.

    Each response is a line of the log: method, path, status and time, without the query.
    """
    settings = load()
    logs.set_up(settings, "info")
    name = f"[{host}]" if ":" in host else host
    with listen(host, port) as listening:
        if host not in UNSPECIFIED_HOSTS:
            os.environ["IBIDEM_GATEWAY_HOSTS"] = ",".join(dict.fromkeys([*settings.gateway_hosts, name]))
        if host not in LOOPBACK and asyncio.run(is_open(settings)):
            LOG.warning("the engine has no users: whoever reaches %s:%s can read and change the index", name, port)
        url = f"http://{'127.0.0.1' if host in UNSPECIFIED_HOSTS else name}:{port}/"
        messages().print(Text(f"Index {settings.index!r} at {url} (Ctrl-C ends it)"))
        config = uvicorn.Config(
            "ibidem_gateway.server:make_app",
            factory=True,
            workers=processes,
            log_config=None,  # uvicorn's logs go through our logging
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        if processes > 1:
            Multiprocess(config, sockets=[listening]).run()
        else:
            with contextlib.suppress(KeyboardInterrupt):
                uvicorn.Server(config).run([listening])


def make_app() -> FastAPI:
    settings = load()
    logs.set_up(settings, "info")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in {soft, resource.RLIM_INFINITY}:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=end_after, args=(parent,), daemon=True).start()
    return make_gateway(settings)


def end_after(parent: multiprocessing.process.BaseProcess) -> None:
    """End this process when its parent has ended, however it ended."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


async def is_open(settings: Settings) -> bool:
    """Return whether the engine has no users: it answers without credentials."""
    upstream = make_upstream(settings)
    if upstream is None:
        return True
    try:
        return (await upstream.send("GET", "/", [])).status == 200
    except HttpError:
        return False
    finally:
        await upstream.close()


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {os.strerror(error.errno) if error.errno and error.errno > 0 else error}",
            "choose another with --host or --port",
        ) from error
