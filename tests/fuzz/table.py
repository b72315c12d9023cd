"""All targets by name."""

from collections.abc import Mapping
from pathlib import Path

from fuzz import readers, records, requests, signatures
from fuzz.target import Target

TARGETS: Mapping[str, Target] = {**readers.TARGETS, **signatures.TARGETS, **requests.TARGETS, **records.TARGETS}

# Inputs that once ended a parser in another way than it may, a folder for each target.
CASES = Path(__file__).parent / "cases"


def cases(name: str) -> list[bytes]:
    """Return the cases of a target, by file name."""
    return [path.read_bytes() for path in sorted((CASES / name).glob("*"))]
