"""Searches while the same documents are written again and again: none shows one twice, half signed, or not at all."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from servers.indices import remove_indices
from support.leases import english_tables
from support.windows import counts, documents

FAMILIES, VERSIONS = 15, 4
ANSWERS = 10
WRITES = """
import sys, itertools
from dataclasses import replace
from support.windows import documents
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import records
address, index, tables, families, versions = sys.argv[1:]
engine = open_engine(address, index)
engine.create()
stories = documents(9, int(families), int(versions))
for version in itertools.count(1):
    changed = [replace(one, version=version, title=f"common {version}", text=f"{one.text} common") for one in stories]
    engine.write(list(records(changed, Tables(tables))))
    engine.refresh()
    print(version, flush=True)
"""


@pytest.fixture(params=["sqlite", pytest.param("opensearch", marks=pytest.mark.server("opensearch"))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address and name of an index."""
    index = f"reingest-{uuid4().hex}"
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/index.sqlite", index
        return
    address = request.getfixturevalue(request.param)
    yield address, index
    remove_indices(address, index)


@contextmanager
def written_meanwhile(address: str, index: str, tables: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process write all documents again, version after version."""
    command = [sys.executable, "-c", WRITES, address, index, str(tables), str(FAMILIES), str(VERSIONS)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_a_search_meanwhile_shows_each_document_once_and_wholly_signed(place: tuple[str, str], tmp_path: Path) -> None:
    stories = documents(9, FAMILIES, VERSIONS)
    english_tables(tmp_path / "tables", dict(counts(stories)))
    engine = open_engine(*place)
    titles = set()
    with written_meanwhile(*place, tmp_path / "tables") as process:
        deadline = time.monotonic() + 60
        while (len(titles) < 3 or process.poll() is not None) and time.monotonic() < deadline:
            titles |= {titles_of_one_answer(engine, len(stories)) for _ in range(ANSWERS)}
    engine.close()
    assert len(titles) >= 3, "nothing was written meanwhile"


def titles_of_one_answer(engine: Engine, total: int) -> tuple[str, ...]:
    """Search for all documents, check the answer, and return the versions that it showed."""
    answer = search_index(engine, parse_query("common"), parse_request({"dedupe": "indent"}), size=total)
    account, hits = answer["dedupe"], answer["hits"]["hits"]
    assert account["documents"]["matched"] == account["documents"]["in_window"] == total
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"]
    assert account["unsigned"] == 0
    ids = [hit["_id"] for hit in hits]
    assert len(ids) == len(set(ids)) == total
    assert all(hit["_source"]["title"].startswith("common ") for hit in hits)
    return tuple(sorted({hit["_source"]["title"] for hit in hits}))
