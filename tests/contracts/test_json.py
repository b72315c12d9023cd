"""What every command prints with `--json`, and the code that it leaves with."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contracts.command import Command, leases
from contracts.golden import Golden, settled
from servers.indices import remove_indices

PAIRS = "a,b,same\nlease,copy,1\nlease,draft,1\nlease,letter,0\n"
STEPS: list[tuple[str, str]] = [
    ("ingest", "ingest documents.jsonl"),
    ("ingest-again", "ingest documents.jsonl"),
    ("status", "status"),
    ("search-indent", "search drains"),
    ("search-off", "search drains --dedupe off"),
    ("search-scope", "search London --scope index --level partial --keep longest --explain"),
    ("inspect", "inspect lease"),
    ("compare", "compare lease draft"),
    ("groups", "groups"),
    ("overrides-list-none", "overrides list"),
    ("overrides-add", "overrides add lease draft --author Ada --reason other-courts"),
    ("overrides-list", "overrides list"),
    ("search-overridden", "search drains --explain"),
    ("overrides-remove", "overrides remove lease draft"),
    ("idf-show", "idf show"),
    ("idf-show-one", "idf show 51b47bedf6038934"),
    ("evaluate", "evaluate documents.jsonl pairs.csv --positive same>=1"),
    ("status-dead", "status --dead"),
    ("doctor", "doctor"),
    ("delete", "delete letter --yes"),
    ("delete-identical", "delete lease --identical --yes"),
    ("delete-undo-list", "delete --undo"),
    ("delete-undo", "delete --undo letter"),
    ("wrong-option", "search drains --level close"),
]


SIGNING = [("backfill-dry-run", "backfill --dry-run"), ("backfill-check", "backfill --check"), ("backfill", "backfill")]


@pytest.mark.server("opensearch")
def test_signing_an_index_prints_the_json_that_is_written_down(tmp_path: Path, opensearch: str) -> None:
    command = leases(tmp_path)
    command.settings.update({"IBIDEM_ENGINE": opensearch, "IBIDEM_INDEX": f"leases-{uuid4().hex}"})
    try:
        assert command.run("ingest", "documents.jsonl").code == 3
        for name, typed in SIGNING:
            Golden.check_json(f"json/{name}", output(command, typed))
    finally:
        remove_indices(opensearch, command.settings["IBIDEM_INDEX"])


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What each step prints, one after the other in one index."""
    command = leases(tmp_path_factory.mktemp("leases"))
    (command.folder / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    return {name: output(command, typed) for name, typed in STEPS}


def output(command: Command, typed: str) -> Mapping[str, Any]:
    process = command.run(*typed.split(), "--json")
    message = process.err.splitlines() if process.code not in {0, 3} else []
    printed = json.loads(process.out) if process.out else None
    for setting in printed.get("settings", []) if printed else []:
        del setting["meaning"]  # docs/settings.md has the words
    for check in printed.get("checks", []) if printed else []:
        if check["name"] == "signing":
            check["what"] = "by compiled loops"  # where the tests run without a compiler, by plain Python
    return settled({"exit": process.code, "json": printed, "message": message}, {str(command.folder): "FOLDER"})


@pytest.mark.parametrize("step", [name for name, _ in STEPS])
def test_a_command_prints_the_json_that_is_written_down(printed: Mapping[str, Any], step: str) -> None:
    Golden.check_json(f"json/{step}", printed[step])
