"""What `make check` says of names under "Args:"."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MODULE = '''
@dataclass
class Record:
    """A record.

    Args:
        text: Its text.
        {field}: Its language.
    """

    text: str
    language: str = ""


class Reader:
    """Reads records.

    Args:
        {parameter}: Size of a record in bytes.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit


def read(*names: str) -> str:
    """Read records.

    Args:
        {variadic}: Their names.

    Raises:
        LookupError: No such record.
    """
    raise LookupError(names)
'''


def check(folder: Path, **names: str) -> tuple[int, list[str]]:
    """Check a module whose docstrings describe these names; returns the exit code, and the lines after the place."""
    (folder / "module.py").write_text(MODULE.format_map(names), encoding="utf-8")
    command = [sys.executable, ".ci/docstrings.py", str(folder)]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not checked.stderr
    return checked.returncode, [line.split(": ", 1)[1] for line in checked.stdout.splitlines()]


def test_docstrings_that_name_the_real_parameters_and_fields_pass(tmp_path: Path) -> None:
    assert check(tmp_path, field="language", parameter="limit", variadic="names") == (0, [])


def test_a_described_parameter_or_field_that_does_not_exist_is_named(tmp_path: Path) -> None:
    assert check(tmp_path, field="tongue", parameter="most", variadic="ids") == (
        1,
        [
            "Method `Reader.__init__` has no most",
            "Function `read` has no ids",
            "Class `Record` has no tongue",
        ],
    )
