"""No room opens pickles, and the audit of packages says plainly what it could not do."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("ingest", "mappings", "plugins", "workers")
OPENS_OBJECTS = {"cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "pickle", "shelve", "yaml"}


def imported(path: Path) -> set[str]:
    """Name the packages that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_opens_what_could_run_code(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        assert not imported(path) & OPENS_OBJECTS, path


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([{"name": "a", "skip_reason": "not found"}], 0, "not audited: none of 1 packages could be looked up"),
        ([{"name": "a", "version": "1", "vulns": []}], 0, "audited 1 of 1 packages: 0 with known weaknesses"),
        ([{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}], 1, "a 1: PYSEC-1"),
        (
            [{"name": "pip", "version": "1", "vulns": [{"id": "PYSEC-1"}]}, {"name": "a", "version": "1", "vulns": []}],
            0,
            "audited 1 of 1 packages: 0 with known weaknesses",
        ),
        (None, 0, "not audited: pip-audit did not answer"),
    ],
    ids=["out of reach", "sound", "weak", "installer", "silent"],
)
def test_the_audit_says_what_it_found_and_what_it_could_not_ask(
    packages: list[object] | None, code: int, said: str, tmp_path: Path
) -> None:
    answer = "" if packages is None else json.dumps({"dependencies": packages})
    (tmp_path / "pip_audit.py").write_text(f"print({answer!r})")
    command = [sys.executable, ROOT / ".ci" / "audit.py"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, said in ended.stdout) == (code, True), ended.stdout
