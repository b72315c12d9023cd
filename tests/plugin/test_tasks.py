"""A grouped search is one task of the caller's: cancelling it ends all, and nothing of it is left when it is done."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from plugin.answers import Json, read_hits
from plugin.conftest import QUERY
from servers.indices import ask
from servers.jdk import java

pytestmark = pytest.mark.server
GROUPED: Json = QUERY | {"ext": {"ibidem": {"dedupe": "indent"}}}
SEARCH = "indices:data/read/search"
CALLER = "a-caller"
ROUNDS, AT_ONCE = 6, 64
MAX_SECONDS = 20.0
# Classes whose objects live as long as a search.
OF_A_SEARCH = {"GroupedSearch", "StoredSearch", "Searches", "ResultList", "Rows", "Window", "Packed", "Page"}


def processes(cluster: str) -> dict[str, int]:
    nodes = ask(cluster, "GET", "/_nodes/process")["nodes"].values()
    return {node["name"]: node["process"]["id"] for node in nodes}


def tasks(cluster: str) -> dict[str, Json]:
    """Return the searches that run on the node that is asked, by the task's id."""
    listed_tasks = ask(cluster, "GET", f"/_tasks?nodes=one&actions={SEARCH}&group_by=none")["tasks"]
    return {f"{each['node']}:{each['id']}": each for each in listed_tasks}


def awaited(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (value := look()):
        assert time.monotonic() < deadline, "it did not come within a minute"
        time.sleep(0.05)
    return value


def search_as_caller(cluster: str, index: str) -> tuple[int, str]:
    """Search under a caller's name, and return status and body."""
    connection = http.client.HTTPConnection(urlsplit(cluster.partition("+")[2]).netloc, timeout=120)
    headers = {"content-type": "application/json", "x-opaque-id": CALLER}
    connection.request("POST", f"/{index}/_search", json.dumps(GROUPED), headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


@pytest.fixture
def signals(cluster: str) -> Iterator[Callable[[signal.Signals], None]]:
    """The other node, which can be paused and resumed; it has the manual decisions on `near`."""
    node_settings = {"index.auto_expand_replicas": False, "index.number_of_replicas": 0}
    node_settings |= {"index.routing.allocation.require._name": "two"}
    ledger = ".ibidem-near"
    ask(cluster, "PUT", f"/{ledger}/_settings", json.dumps(node_settings))
    awaited(lambda: [each["node"] for each in ask(cluster, "GET", f"/_cat/shards/{ledger}?format=json")] == ["two"])
    process = processes(cluster)["two"]
    yield lambda signal_number: os.kill(process, signal_number)
    os.kill(process, signal.SIGCONT)


def inner_searches(cluster: str) -> list[Json]:
    """Return the searches on the node that is asked that another search sent."""
    running = tasks(cluster)
    return [each for each in running.values() if each.get("parent_task_id") in running]


def test_cancelling_ends_the_search_and_all_that_it_asked_for_as_the_caller(
    cluster: str, signals: Callable[[signal.Signals], None]
) -> None:
    """The search waits for the manual decisions, which it asks for in a search of its own."""
    time.sleep(5.1)  # earlier ones are cached for five seconds
    signals(signal.SIGSTOP)
    with ThreadPoolExecutor(2) as threads:
        answer = threads.submit(search_as_caller, cluster, "near")
        (inner,) = awaited(lambda: inner_searches(cluster))
        assert inner["headers"]["X-Opaque-Id"] == CALLER
        cancelled = threads.submit(ask, cluster, "POST", f"/_tasks/{inner['parent_task_id']}/_cancel")
        awaited(lambda: all(each["cancelled"] for each in tasks(cluster).values()))
        signals(signal.SIGCONT)
        status, body = answer.result(timeout=60)
        cancelled.result(timeout=60)
    assert status >= 400
    assert "cancel" in body
    awaited(lambda: not tasks(cluster))


def test_searches_at_once_leave_nothing_behind(cluster: str) -> None:
    """Objects that are reachable are counted when garbage is collected and threads have come to their end.

    A thread that has answered may hold its last search for a moment longer; a leak stays.
    """
    process = processes(cluster)["one"]
    expected = set()
    deadline = time.monotonic() + MAX_SECONDS
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for _ in range(ROUNDS):
            answers = list(threads.map(search_as_caller, [cluster] * AT_ONCE, ["stories", "spread"] * (AT_ONCE // 2)))
            assert {status for status, _ in answers} <= {200, 429}
            expected |= {read_hits(body) for status, body in answers if status == 200}
            if time.monotonic() > deadline:
                break
    assert len(expected) == 2, "an index has one answer, whatever else is asked"
    awaited(lambda: not tasks(cluster))
    awaited(lambda: not living(process))
    nodes = ask(cluster, "GET", "/_nodes/stats/breaker")["nodes"].values()
    assert [node["breakers"]["ibidem"]["estimated_size_in_bytes"] for node in nodes] == [0, 0]


def living(process: int) -> dict[str, int]:
    """Count the objects of searches in a node; counting collects its garbage first."""
    command = [java().with_name("jcmd"), str(process), "GC.class_histogram"]
    histogram = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    counts = re.findall(r"^\s*\d+:\s+(\d+)\s+\d+\s+ibidem\.(\S+)", histogram, re.MULTILINE)
    assert counts, "the plugin's own classes are among those that are counted"
    return {name: int(count) for count, name in counts if name.rpartition(".")[2] in OF_A_SEARCH}
