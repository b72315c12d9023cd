"""The golden files hold what the Python code answers today; the plugin's Java tests read the same files."""

import pytest

from plugin.written import FILES, FOLDER, golden


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_holds_what_is_answered(name: str) -> None:
    """If this is meant to change: `PYTHONPATH=tests python -m plugin.written`, and mend the plugin."""
    file = (FOLDER / f"{name}.jsonl").read_bytes().splitlines()
    for number, (line, golden_line) in enumerate(zip(file, golden(name).splitlines(), strict=True), 1):
        assert line == golden_line, f"line {number} of {name}.jsonl"
