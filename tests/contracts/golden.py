"""Golden files: what a contract is now is compared with what was written down, line by line."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"

# What stands for a value that differs from run to run, by its name.
VOLATILE = {
    "run": "RUN",
    "started": "TIME",
    "when": "TIME",
    "took": "MS",
    "took_ms": "MS",
    "took_s": "SECONDS",
    "seconds": "SECONDS",
    "signing_seconds": "SECONDS",
    "index_bytes": "BYTES",
    "headroom_bytes": "BYTES",
    "_score": "SCORE",
    "max_score": "SCORE",
    "cursor": "CURSOR",
    "holder": "HOLDER",
}

_PATTERNS = (
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b"), "RUN"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT[\d:.]+(Z|\+00:00)"), "TIME"),
    (re.compile(r"\b20(2[6-9]|[3-9]\d)-\d\d-\d\d\b"), "TODAY"),
    (re.compile(r"(?<![\d.])(?!127\.)\d+\.\d+\.\d+(\.\w+)*"), "VERSION"),
)


class Changed(AssertionError):
    """A contract is not what was written down."""


class Golden:
    """The golden files; each is compared, or written again where `writing` says so."""

    writing = False

    @classmethod
    def check(cls, name: str, text: str) -> None:
        """Compare a contract with its file."""
        path, text = FOLDER / name, text.rstrip("\n") + "\n"
        if cls.writing:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        previous = path.read_text(encoding="utf-8") if path.exists() else ""
        if previous != text:
            lines = difflib.unified_diff(previous.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm="")
            raise Changed("\n".join(("a contract has changed; if on purpose: python -m contracts.write", *lines)))

    @classmethod
    def check_json(cls, name: str, value: object, replacements: Mapping[str, str] = {}) -> None:
        """Compare a JSON value with its file, volatile parts replaced; see `check`."""
        text, groups = json.dumps(settled(value, replacements), indent=1, ensure_ascii=False), dict[str, str]()
        text = re.sub(r"\b[0-9a-f]{24}\b", lambda each: groups.setdefault(each[0], f"GROUP {len(groups) + 1}"), text)
        cls.check(f"{name}.json", text)

    @classmethod
    def check_names(cls, name: str, names: Iterable[str]) -> None:
        """Compare names, one a line in their order; see `check`."""
        cls.check(f"{name}.txt", "\n".join(sorted(set(names))))


def settled(value: Any, replacements: Mapping[str, str] = {}) -> Any:
    """Replace what differs from run to run in a JSON value.

    >>> settled({"took_s": 0.25, "folder": ["/tmp/a/b"]}, {"/tmp/a": "FOLDER"})
    {'took_s': 'SECONDS', 'folder': ['FOLDER/b']}
    >>> settled({"took_s": 0.0, "cursor": None, "max_score": None})
    {'took_s': 'SECONDS', 'cursor': None, 'max_score': None}
    """
    if isinstance(value, dict):
        return {
            replaced(name, replacements): VOLATILE[name]
            if name in VOLATILE and (each or each == 0)
            else settled(each, replacements)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [settled(each, replacements) for each in value]
    return replaced(value, replacements) if isinstance(value, str) else value


def replaced(text: str, replacements: Mapping[str, str]) -> str:
    """Replace what differs from run to run in a text."""
    for word, replacement in replacements.items():
        text = text.replace(word, replacement)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
