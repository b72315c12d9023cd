"""The whole way with real servers: files through a broker and workers into an index, searched and inspected."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servers.command_line import Way
from servers.indices import remove_indices
from support.leases import english_tables
from support.windows import counts, documents

STORIES = documents(5, 25, 4)


def pair(engine: str, broker: str) -> Any:
    return pytest.param((engine, broker), marks=pytest.mark.server(engine, broker), id=f"{broker} to {engine}")


PAIRS = [pair(engine, broker) for broker in ("rabbitmq", "redis") for engine in ("opensearch", "elasticsearch")]


@pytest.fixture(params=PAIRS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Way]:
    engine, broker = request.param
    address = request.getfixturevalue(engine)
    english_tables(tmp_path / "tables", dict(counts(STORIES)))
    program = Way(tmp_path, address, request.getfixturevalue(broker))
    yield program
    program.end()
    remove_indices(address, program.index)


def test_files_are_ingested_searched_and_inspected(way: Way) -> None:
    lines = [json.dumps(story.as_record()) for story in STORIES]
    path = way.folder / "stories.jsonl"
    path.write_text("\n".join([*lines, '{"id": "bad", "text": 7}']))
    way.start_worker()

    summary = way.json("ingest", str(path), "--wait", exit_code=3)
    assert (summary["indexed"], summary["refused"], summary["read"]) == (len(STORIES), 1, len(STORIES) + 1)
    assert sum(summary["duplicates"].values()) > 5

    second_account = way.json("ingest", str(path), "--wait", exit_code=3)
    assert (second_account["indexed"], second_account["unchanged"]) == (0, len(STORIES))

    response = way.json("search", "said", "--size", "50")
    account = response["dedupe"]
    assert account["documents"]["matched"] == sum("said" in story.text for story in STORIES)
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"]
    assert account["duplicates"] > 5

    duplicate = next(hit for hit in response["hits"]["hits"] if hit["_dedupe"]["indent"])
    assert way.json("inspect", duplicate["_id"])["duplicates"]
