"""The glossary names modules that there are, and each word once."""

import re
from importlib.util import find_spec
from pathlib import Path

ROWS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `([\w.]+)` \|$",
    (Path(__file__).parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_each_word_is_defined_by_a_module_that_exists() -> None:
    assert ROWS
    assert [module for _, module in ROWS if find_spec(module) is None] == []


def test_each_word_has_one_meaning() -> None:
    words = [word for word, _ in ROWS]
    assert sorted(words) == sorted(set(words))
