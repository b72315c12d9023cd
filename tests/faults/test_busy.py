"""A node that takes one write at a time and lets one more wait: what it rejects is sent again, and nothing is lost."""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from faults import submissions
from faults.environment import Setting
from faults.round import PATIENCE, find_faults
from servers.command_line import DONE
from servers.indices import ask
from servers.kinds import CLUSTERS
from servers.nodes import NODE, EngineName
from servers.process import Launch, Process, free_ports

DOCUMENTS = 400
NARROW = ("thread_pool.write.size=1", "thread_pool.write.queue_size=1", "discovery.type=single-node")


def prepare(kind: EngineName, folder: Path) -> Launch:
    return NODE[kind](folder, *free_ports(2), "node.name=narrow", *NARROW)


@pytest.fixture(params=CLUSTERS)
def narrow(request: pytest.FixtureRequest) -> Iterator[str]:
    node = Process(request.param, partial(prepare, request.param))
    try:
        yield node.wait()
    finally:
        node.stop()


def rejections(address: str) -> int:
    nodes = ask(address, "GET", "/_nodes/stats/thread_pool")["nodes"].values()
    return sum(int(node["thread_pool"]["write"]["rejected"]) for node in nodes)


@pytest.mark.timeout(600)
def test_a_node_that_rejects_writes_gets_every_document_once(
    narrow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "SHARES", (("new", 100),))  # a batch with a repeated id is one request
    rng = random.Random(1987)  # noqa: S311 - a lot that can be drawn again
    setting = Setting(tmp_path, "", narrow, rng, {})
    setting.way.environment |= {"IBIDEM_BATCH_CHARACTERS": "20000", "IBIDEM_CONCURRENCY": "8"}
    with setting:
        path = tmp_path / "submitted.jsonl"
        lines = setting.shelf.write(path, DOCUMENTS)
        command = setting.ingest(path)
        assert command.process.wait(PATIENCE) in DONE
        assert find_faults(setting, command.account(), lines) == []
        assert rejections(narrow) > 0
