"""What is logged: every event of ours, and the fields of those of an ordinary run."""

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from contracts.command import ENOUGH, gateway, get, going_on, leases
from contracts.golden import Golden
from faults.environment import wait_for
from servers.command_line import IBIDEM, surroundings

PROJECT = Path(__file__).parents[2]
NOT_OURS = ("tests", "benchmarks", "docs", ".venv")
LEVELS = ("debug", "info", "warning", "error", "exception")


def events(lines: str) -> set[str]:
    """Read the events of ours from lines of JSON, each with the names of its fields."""
    records = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    own_records = [record for record in records if record["logger"].startswith("ibidem")]
    return {
        f"{record['level']}: {record['event']} {{{', '.join(sorted(set(record) - {'event', 'level'}))}}}"
        for record in own_records
    }


def capture() -> Iterator[str]:
    for path in PROJECT.rglob("*.py"):
        if path.relative_to(PROJECT).parts[0] in NOT_OURS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr=level), args=[ast.Constant(value=str(event)), *_]) if (
                    level in LEVELS
                ):
                    yield f"{level}: {event}"


@pytest.mark.slow
def test_a_submission_logs_these_events_with_these_fields(tmp_path: Path) -> None:
    command = leases(tmp_path)
    process = subprocess.run(
        [IBIDEM, "ingest", "documents.jsonl"],
        cwd=command.folder,
        env=surroundings(command.settings | {"IBIDEM_LOG": "debug"}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    Golden.check_names("logs/submission", events(process.stderr))


@pytest.mark.slow
@pytest.mark.server("rabbitmq")
def test_a_worker_logs_these_events_with_these_fields(tmp_path: Path, rabbitmq: str) -> None:
    command, log = leases(tmp_path), tmp_path / "worker.log"
    command.settings.update(IBIDEM_BROKER=rabbitmq, IBIDEM_INDEX=f"logs-{uuid4().hex}")
    command.run("ingest", "documents.jsonl", "--no-wait")
    with going_on(command, log, "worker"):
        assert wait_for(lambda: "batch done" in log.read_text(encoding="utf-8"), ENOUGH), "no batch is done"
    Golden.check_names("logs/worker", events(log.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_a_gateway_logs_these_events_with_these_fields(tmp_path: Path) -> None:
    command, log = leases(tmp_path), tmp_path / "gateway.log"
    command.run("ingest", "documents.jsonl")
    with gateway(command, log) as url:
        get(f"{url}/ibidem/search?q=drains")
    Golden.check_names("logs/gateway", events(log.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_these_events_are_in_the_source_and_no_others() -> None:
    Golden.check_names("logs/events", capture())
