"""An index of an earlier schema is neither written nor mixed, says what to do, and is right after the backfill."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ibidem_engines.cluster.index import VERSION
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_mappings import load
from servers.command_line import IBIDEM, surroundings
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from upgrade.keep import unpacked

HERE = Path(__file__).parent
SCHEMAS = sorted(path.name.removeprefix("schema-").removesuffix(".tar.xz") for path in HERE.glob("schema-*.tar.xz"))
# Makes every process that finds this at its start the next version, whose signatures have another schema.
NEXT = """
from ibidem_ingest.signatures import schema

schema.SCHEMA = str(int(schema.SCHEMA) + 1)
"""

REMEDY = "ibidem backfill --into NAME"


@dataclass(frozen=True)
class Release:
    """An index as the version of its schema wrote it."""

    folder: Path  # where it was unpacked
    schema: str
    settings: dict[str, str]  # which index it is
    second: str  # the name that a copy gets; it takes over the alias that is the first name

    def environment(self, version: str) -> dict[str, str]:
        (self.folder / "next").mkdir(exist_ok=True)
        (self.folder / "next" / "sitecustomize.py").write_text(NEXT)
        path = {"PYTHONPATH": str(self.folder / "next")} if version == "next" else {}
        return surroundings(self.settings | path)

    def run(self, *typed: str, version: str = "this") -> subprocess.CompletedProcess[str]:
        """Run a command of this version, or of the next one, whose schema is another."""
        return subprocess.run(
            [IBIDEM, *typed],
            cwd=self.folder,
            env=self.environment(version),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def json(self, *typed: str, version: str = "this") -> Any:
        process = self.run(*typed, "--json", version=version)
        assert process.returncode in {0, 1}, process.stderr
        return json.loads(process.stdout)


@pytest.fixture(params=CLUSTERS)
def release(request: pytest.FixtureRequest, tmp_path: Path, schema: str) -> Iterator[Release]:
    unpacked(HERE / f"schema-{schema}.tar.xz", tmp_path)
    common = {"IBIDEM_TABLES": str(tmp_path / "tables"), "IBIDEM_CONCURRENCY": "1"}
    address: str = request.getfixturevalue(request.param)
    alias = f"kept-{uuid4().hex}"
    body = json.loads(load(f"cluster.v{VERSION}.json").replace("{schema}", schema)) | {"aliases": {alias: {}}}
    ask(address, "PUT", f"/{alias}-1", body)
    ask(address, "POST", f"/{alias}-1/_bulk?refresh=true", (tmp_path / "bulk.jsonl").read_text())
    settings = {"IBIDEM_ENGINE": address, "IBIDEM_INDEX": alias}
    yield Release(tmp_path, schema, common | settings, f"{alias}-2")
    for name in (f"{alias}-1", f"{alias}-2", alias):
        remove_indices(address, name)


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> str:
    schema: str = request.param
    return schema


def list_hits(response: Any) -> list[tuple[str, int, str | None]]:
    return [(hit["_id"], hit["_dedupe"]["indent"], hit["_dedupe"]["level"]) for hit in response["hits"]["hits"]]


GROUPED = {("lease", 0, None), ("copy", 1, "identical"), ("draft", 1, "near"), ("letter", 0, None), ("blank", 0, None)}


def test_every_schema_since_the_first_is_kept() -> None:
    assert [str(number) for number in range(3, int(SCHEMA) + 1)] == SCHEMAS


@pytest.mark.slow
def test_the_next_version_neither_writes_nor_mixes_and_says_what_to_do(release: Release) -> None:
    for typed in (["ingest", "documents.jsonl"], ["search", "drains"]):
        process = release.run(*typed, version="next")
        assert process.returncode == 1, process.stdout
        assert REMEDY in " ".join(process.stderr.split())
        assert "Traceback" not in process.stderr
    wrong = [check for check in release.json("doctor", version="next")["checks"] if not check["ok"]]
    assert [(check["name"], REMEDY in check["remedy"]) for check in wrong] == [("schema", True)]


@pytest.mark.slow
def test_the_next_version_is_right_after_the_backfill(release: Release) -> None:
    process = release.run("backfill", "--into", release.second, version="next")
    assert process.returncode == 0, process.stderr
    response = release.json("search", "drains", version="next")
    assert set(list_hits(response)) == GROUPED
    assert (response["dedupe"]["unsigned"], response["dedupe"]["mixed_tables"]) == (1, 0)
    account = release.json("ingest", "documents.jsonl", version="next")
    assert (account["unchanged"], account["indexed"]) == (5, 0)


@pytest.mark.slow
@pytest.mark.server("rabbitmq")
@pytest.mark.parametrize("schema", [SCHEMA])
def test_what_waits_in_the_queue_is_left_by_workers_before_the_backfill_and_indexed_after_it(
    release: Release, rabbitmq: str
) -> None:
    release.settings["IBIDEM_BROKER"] = rabbitmq
    (release.folder / "new.jsonl").write_text('{"id": "new", "text": "A newly found deed of gift."}')
    run = release.json("ingest", "new.jsonl", "--no-wait")["run"]
    worker = release.run("worker", version="next")
    assert worker.returncode == 1
    assert REMEDY in " ".join(worker.stderr.split())
    assert release.json("status", run)["pending"] == 1
    process = release.run("backfill", "--into", release.second, version="next")
    assert process.returncode == 0, process.stderr
    with subprocess.Popen([IBIDEM, "worker"], env=release.environment("next"), cwd=release.folder) as worker_process:
        release.json("ingest", "documents.jsonl", version="next")  # what was sent before is taken first
        worker_process.terminate()
    account = release.json("status", run, version="next")
    assert (account["pending"], account["indexed"], account["refused"]) == (0, 1, 0)


@pytest.mark.slow
def test_this_version_goes_on_with_its_own_schema_as_it_was_signed_first(release: Release) -> None:
    """Should this fail, signatures have changed: give them a new schema, and keep an index of the old one."""
    if release.schema != SCHEMA:
        assert release.run("search", "drains").returncode == 1
        return
    response = release.json("search", "drains")
    assert set(list_hits(response)) == GROUPED
