"""The whole way with real servers: files through a broker and workers into an index, searched and inspected."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dedupe.made import counts, documents
from ibidem_ingest.idf.table import Table
from ibidem_ingest.idf.tables import Tables
from servers.indices import remove_indices

STORIES = documents(5, 25, 4)
IBIDEM = Path(sys.executable).with_name("ibidem")


def pair(engine: str, broker: str) -> Any:
    servers = [name for name in (engine, broker) if name != "sqlite"]
    return pytest.param((engine, broker), marks=pytest.mark.server(*servers), id=f"{broker} to {engine}")


PAIRS = [
    pair("opensearch", "rabbitmq"),
    pair("elasticsearch", "rabbitmq"),
    pair("sqlite", "rabbitmq"),
    pair("opensearch", "redis"),
    pair("elasticsearch", "redis"),
    pair("sqlite", "redis"),
]


class Way:
    """The command line with an engine and a broker, in a folder of its own."""

    def __init__(self, folder: Path, engine: str, broker: str) -> None:
        self.folder = folder
        self.index = f"way-{uuid4().hex}"  # the queue is named after it, and a broker is shared
        settings = {"ENGINE": engine, "BROKER": broker, "INDEX": self.index, "TABLES": str(folder / "tables")}
        others = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
        self.environment = others | {f"IBIDEM_{name}": value for name, value in settings.items()}
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self) -> subprocess.Popen[bytes]:
        with (self.folder / "worker.log").open("ab") as log:
            command = [IBIDEM, "worker", "--concurrency", "1"]
            worker = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        self.workers.append(worker)
        return worker

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        command = [IBIDEM, *arguments, "--json"]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == exit_code, done.stderr + (self.folder / "worker.log").read_text()
        return json.loads(done.stdout)

    def stop(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait(timeout=60)


@pytest.fixture(params=PAIRS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Way]:
    engine, broker = request.param
    address = f"sqlite:///{tmp_path}/index.sqlite" if engine == "sqlite" else request.getfixturevalue(engine)
    Tables(tmp_path / "tables").use(Table.of("en", 10_000, dict(counts(STORIES)), "a test"))
    made = Way(tmp_path, address, request.getfixturevalue(broker))
    yield made
    made.stop()
    if engine != "sqlite":
        remove_indices(address, made.index)


def test_files_are_ingested_searched_and_inspected(way: Way) -> None:
    lines = [json.dumps(story.as_record()) for story in STORIES]
    path = way.folder / "stories.jsonl"
    path.write_text("\n".join([*lines, '{"id": "bad", "text": 7}']))
    way.start_worker()

    told = way.json("ingest", str(path), "--wait", exit_code=3)
    assert (told["indexed"], told["refused"], told["read"]) == (len(STORIES), 1, len(STORIES) + 1)
    assert sum(told["duplicates"].values()) > 5

    again = way.json("ingest", str(path), "--wait", exit_code=3)
    assert (again["indexed"], again["unchanged"]) == (0, len(STORIES))

    found = way.json("search", "said", "--size", "50")
    account = found["dedupe"]
    assert account["documents"]["matched"] == sum("said" in story.text for story in STORIES)
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"]
    assert account["duplicates"] > 5

    one = next(hit for hit in found["hits"]["hits"] if hit["_dedupe"]["indent"])
    assert way.json("inspect", one["_id"])["duplicates"]


@pytest.mark.parametrize("way", PAIRS[:1], indirect=True)
def test_a_worker_that_is_killed_loses_no_document(way: Way) -> None:
    path = way.folder / "stories.jsonl"
    path.write_text("\n".join(json.dumps(story.as_record()) for story in STORIES))
    way.environment["IBIDEM_BATCH_CHARACTERS"] = "1000"
    way.start_worker()
    run = way.json("ingest", str(path), "--no-wait")["run"]
    while not way.json("status", run)["indexed"]:
        pass
    os.killpg(way.workers[0].pid, signal.SIGKILL)
    way.start_worker()
    while (told := way.json("status", run))["state"] != "done":
        pass
    assert told["indexed"] + told["unchanged"] == len(STORIES)
    assert way.json("search", "said", "--size", "1")["dedupe"]["documents"]["matched"] > 50
