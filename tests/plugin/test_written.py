"""The golden files hold what the Python code answers today; the plugin's Java tests read the same files."""

import pytest

from plugin.written import FOLDER, golden

HELD = golden()


@pytest.mark.parametrize("name", HELD)
def test_a_golden_file_holds_what_is_answered(name: str) -> None:
    """If this is meant to change: `PYTHONPATH=tests python -m plugin.written`, and mend the plugin."""
    file = (FOLDER / f"{name}.jsonl").read_bytes().splitlines()
    for number, (written, held) in enumerate(zip(file, HELD[name].splitlines(), strict=True), 1):
        assert written == held, f"line {number} of {name}.jsonl"
