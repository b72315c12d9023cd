"""Fixtures of these tests: an index of passages, and programs that run beside packages that are not installed here."""

import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibidem_engines.connect import open_engine
from servers.packages import interpreter
from support.signed_records import make_record

ROOT = Path(__file__).parents[2]
CLAUSES = [f"clause{number} word{number} rent{number}" for number in range(60)]
FIRST = " ".join(CLAUSES[:20])
# The end of `next` is the beginning of `window`.
RECORDS: dict[str, dict[str, Any]] = {
    "a": {"text": f"{FIRST} rent rent rent", "meta": {"document": "lease.pdf"}},
    "copy of a": {"text": f"{FIRST} rent rent rent", "meta": {"document": "scan.pdf"}},
    "next": {"text": f"rent rent rent {' '.join(CLAUSES[20:40])}", "meta": {"document": "lease.pdf"}},
    "window": {"text": f"{' '.join(CLAUSES[38:40])} and the rent ends", "meta": {"document": "lease.pdf"}},
    "other": {"text": f"rent {' '.join(CLAUSES[40:60])}", "meta": {"document": "contract.pdf"}},
}


COPIES = 12


@pytest.fixture(scope="session")
def passages(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of the indexes `passages`, and `copies` of one text, in a file."""
    address = f"sqlite:///{tmp_path_factory.mktemp('retrieval') / 'index.sqlite'}"
    copies = {f"copy {number}": {"text": FIRST} for number in range(1 + COPIES)}
    for index, records in (("passages", RECORDS), ("copies", copies)):
        engine = open_engine(address, index)
        engine.create()
        engine.write([make_record(name, **record) for name, record in records.items()])
        engine.close()
    return address


Program = Callable[[str, str], subprocess.CompletedProcess[str]]


@pytest.fixture
def run_beside(tmp_path: Path, passages: str) -> Program:
    """Run a program with a package, as `pip install` names it, the index and this project."""

    def run(requirement: str, program: str) -> subprocess.CompletedProcess[str]:
        python = interpreter(f"framework-{requirement.replace('==', '-')}", [requirement])
        packages = [str(ROOT / name) for name in ("ingest", "mappings", "plugins", "workers")]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "IBIDEM_TABLES": str(tmp_path),
            "IBIDEM_ENGINE": passages,
            "IBIDEM_INDEX": "passages",
            "HAYSTACK_TELEMETRY_ENABLED": "False",
            "PYTHONPATH": os.pathsep.join([*packages, sysconfig.get_path("purelib")]),
        }
        return subprocess.run(
            [str(python), "-W", "ignore", "-c", program],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=240,
        )  # fmt: skip

    return run
