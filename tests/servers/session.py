"""The servers of one test session: each is started at most once, at its first use, and all end with the session."""

import atexit
import os
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from servers import elasticsearch, opensearch, rabbitmq, redis
from servers.missing import Missing
from servers.process import Process

PREPARE = {
    "opensearch": opensearch.prepare,
    "elasticsearch": elasticsearch.prepare,
    "rabbitmq": rabbitmq.prepare,
    "redis": redis.prepare,
}


def variable(name: str) -> str:
    """Return the variable that holds the address of a server that runs already."""
    return f"IBIDEM_TEST_{name.upper()}"


class Servers:
    """Hands out addresses; starts what is wanted side by side."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)
        self.processes: list[Process] = []
        self.missing: dict[str, str] = {}
        self.starting: dict[str, Future[str]] = {}
        atexit.register(self.stop)

    def url(self, name: str) -> str:
        if address := os.environ.get(variable(name)):
            return address
        if name not in self.starting:
            self.start({name} | {other for other in self.names if not os.environ.get(variable(other))})
        try:
            return self.starting[name].result()
        except Missing as missing:
            self.missing[name] = str(missing)
            raise Missing(f"{name} cannot be started: {missing}") from missing

    def start(self, names: Iterable[str]) -> None:
        """Start servers side by side, without waiting."""
        threads = ThreadPoolExecutor(thread_name_prefix="servers")
        for name in sorted(set(names) - set(self.starting)):
            self.starting[name] = threads.submit(self.started, name)
        threads.shutdown(wait=False)

    def started(self, name: str) -> str:
        process = Process(name, PREPARE[name])
        self.processes.append(process)
        return process.wait()

    def stop(self) -> None:
        """End every server that was started here."""
        while self.processes:
            self.processes.pop().stop()
        atexit.unregister(self.stop)
