"""Processor time of a client and of the server that it loads: elapsed time says little on a machine with neighbours.

A server's time is the time of its process, as the system counts it, for all clients: so a figure is valid only where
nobody else uses the server, and both sides of a ratio are measured in turn.
"""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import benchmark  # noqa: F401 - finds the tests' servers
from servers.indices import ask


@dataclass(frozen=True, slots=True)
class TimeCost:
    elapsed: float  # by the clock
    client: float  # processor time of this process and of its ended children
    server: float  # processor time of the server; 0 where there is none

    @property
    def processor(self) -> float:
        return self.client + self.server


def measure_cost(work: Callable[[], object], url: str = "") -> TimeCost:
    server, client, begin = server_seconds(url), client_seconds(), time.perf_counter()
    work()
    return TimeCost(time.perf_counter() - begin, client_seconds() - client, server_seconds(url) - server)


def client_seconds() -> float:
    """Return the processor time of this process and of its ended children."""
    usage = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in usage)


def server_seconds(url: str) -> float:
    """Return the processor time of all nodes of a server on this machine."""
    return sum(map(process_seconds, node_processes(url))) if url else 0.0


@cache
def node_processes(url: str) -> tuple[int, ...]:
    nodes = ask(url, "GET", "/_nodes/process")["nodes"].values()
    return tuple(int(each["process"]["id"]) for each in nodes)


def process_seconds(number: int, *, children: bool = False) -> float:
    """Return the processor time of a process; a node's own count may be a second old."""
    fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")
