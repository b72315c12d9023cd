"""The golden list of packed values with the verdict that every reader has to reach (`plugin/verdicts.py`)."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "plugin" / "golden" / "verdicts.jsonl"

# A test for each value of the list.
each_verdict = pytest.mark.parametrize(
    ("value", "is_read"),
    [
        pytest.param(b64decode(each["bytes"]), each["read"], id=each["case"])
        for each in map(json.loads, FILE.read_text().splitlines())
    ],
)
