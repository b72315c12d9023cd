"""Newswire stories in an index, queries for them, and the clients and the gateway that ask."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import benchmark  # noqa: F401 - finds the tests' servers
from ibidem_core.address import Fields
from ibidem_engines.cluster import dsl
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_engines.query import parse_query
from ibidem_workers.groups.follower import settle_all
from servers.indices import create_index, remove_indices

BATCH = 500


def body(words: str, size: int) -> dict[str, Any]:
    """Search for words, as the command line does."""
    return {"query": dsl.clause(parse_query(words), Fields()), "size": size, "track_total_hits": True}


def load(url: str, stories: Iterable[Record], index: str, shards: int = 1) -> None:
    remove_indices(url, index)
    create_index(url, index, number_of_shards=shards)
    engine = open_engine(url, index)
    remaining = iter(stories)
    while batch := [*islice(remaining, BATCH)]:
        engine.write(batch)
    settle_all(engine)
    engine.refresh()
    engine.close()


@contextlib.contextmanager
def serve(engine: str, index: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Run `ibidem serve` before an engine; yields its address and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "IBIDEM_ENGINE": engine, "IBIDEM_INDEX": index, "IBIDEM_TABLES": str(folder)}
    command = [str(Path(sys.executable).with_name("ibidem")), "serve", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            await_port(port)
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()


def await_port(port: int) -> None:
    """Wait until the port accepts connections."""
    for _ in range(1_800):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"nobody listens at {port}")
