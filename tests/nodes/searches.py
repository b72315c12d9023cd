"""Searches by the plugin at every node of a cluster in trouble: each is whole, or fails, and leaves nothing behind."""

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from faults.environment import wait_for
from ibidem_engines.connect import open_engine
from ibidem_workers.groups.follower import settle_all
from nodes.cluster import FrailNodes
from servers.indices import ask, create_index
from servers.nodes import NAMES, Nodes
from workers.groups.test_service import signed

INDEX = "stories"
# Without scores, which count what an update has left in one copy of a shard, and not in another.
QUERY = {"query": {"constant_score": {"filter": {"match": {"text": "said"}}}}, "size": 10}
WAYS: tuple[dict[str, Any], ...] = ({"window": 50}, {"by": "stored"})


def fill(nodes: Nodes) -> str:
    """Make an index of three shards whose copies have one and the same order; returns what a search finds."""
    create_index(nodes.address, INDEX, number_of_shards=3)
    engine = open_engine(nodes.address, INDEX)
    engine.create()
    engine.write(signed(23, 60, 6))
    settle_all(engine)
    engine.close()
    ask(nodes.address, "POST", f"/{INDEX}/_forcemerge?max_num_segments=1&flush=true")
    ask(nodes.address, "PUT", f"/{INDEX}/_settings", {"index.number_of_replicas": 1})
    nodes.settle()
    return found(nodes.address)


def found(address: str) -> str:
    """Search by a window and by stored groups; returns which documents the answers show, and how they are marked."""
    bodies = (QUERY | {"ext": {"ibidem": {"dedupe": "indent"} | way}} for way in WAYS)
    hits = [ask(address, "POST", f"/{INDEX}/_search", body)["hits"]["hits"] for body in bodies]
    return json.dumps([[hit["_id"], hit["_dedupe"]] for each in hits for hit in each])


@dataclass
class Searches:
    """Threads that search at each node until they are stopped."""

    nodes: FrailNodes  # the cluster
    expected: str  # what a whole answer shows
    cancels: bool = False  # whether searches are cancelled meanwhile, as an administrator does
    patience: float = 120.0  # seconds within which each node answers wholly once all is well
    leaves: float = 60.0  # seconds within which nothing is left of the searches
    failed: int = 0
    cancelled: int = 0
    faults: list[str] = field(default_factory=list)
    _whole: Counter[str] = field(default_factory=Counter)
    _stop: threading.Event = field(default_factory=threading.Event)
    _calm: threading.Event = field(default_factory=threading.Event)

    @property
    def whole(self) -> int:
        return self._whole.total()

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._search, args=(name,), daemon=True) for name in NAMES]
        if self.cancels:
            self._threads.append(threading.Thread(target=self._cancel, daemon=True))
        for each in self._threads:
            each.start()

    def calm(self) -> None:
        """Cancel no more searches."""
        self._calm.set()

    def finish(self) -> list[str]:
        """Stop once each node answers again; returns what was wrong with answers, and what searches left behind."""
        before = Counter(self._whole)
        wait_for(
            lambda: all(self._whole[name] > before[name] for name in NAMES) and self.cancelled >= self.cancels,
            self.patience,
        )
        self._stop.set()
        self.calm()
        for each in self._threads:
            each.join()
        silent = [name for name in NAMES if self._whole[name] == before[name]]
        faults = [*self.faults[:3], *(f"no search at {name} is answered though all is well" for name in silent)]
        if self.cancels and not self.cancelled:
            faults.append("no search was there to be cancelled")
        has_left = wait_for(lambda: not self._left(), self.leaves)  # workers search, too: once is enough
        return faults if has_left else [*faults, *self._left()]

    def _search(self, name: str) -> None:
        address = self.nodes.address_of(name)
        while not self._stop.wait(0.1):
            try:
                answer = found(address)
            except (RuntimeError, OSError, HTTPException):
                self.failed += 1
                continue
            if answer == self.expected:
                self._whole[name] += 1
            else:
                self.faults.append(f"a search at {name} is not whole: {answer[:200]}")

    def _cancel(self) -> None:
        while not self._calm.wait(0.2):
            try:
                answer = ask(self.nodes.address, "POST", "/_tasks/_cancel?actions=indices:data/read/search*")
            except (RuntimeError, OSError, HTTPException):
                continue
            self.cancelled += sum(len(node["tasks"]) for node in answer.get("nodes", {}).values())

    def _left(self) -> list[str]:
        """Name the searches that run, and the memory that stays counted, at any node."""
        faults = []
        tasks = ask(self.nodes.address, "GET", "/_tasks?actions=indices:data/read/search*&group_by=none")["tasks"]
        if tasks:
            faults.append(f"{len(tasks)} searches run though nobody waits for them")
        nodes = ask(self.nodes.address, "GET", "/_nodes/stats/breaker")["nodes"].values()
        counted = {node["name"]: node["breakers"]["ibidem"]["estimated_size_in_bytes"] for node in nodes}
        return [*faults, *(f"{size} bytes stay counted at {name}" for name, size in counted.items() if size)]
