"""Tests that keep the promises of those that were removed: each one that `removed.md` names exists."""

import re
from pathlib import Path

from support.named_tests import names_of_tests

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`(tests/[\w/]+\.(?:py|md))((?:::\w+)*)`")


def test_every_test_that_the_list_names_exists() -> None:
    page = (ROOT / "tests" / "removed.md").read_text(encoding="utf-8")
    names = {path: names_of_tests(ROOT / path) for path, name in NAMED.findall(page) if name}
    missing = [path + name for path, name in NAMED.findall(page) if not (ROOT / path).exists()]
    missing += [path + name for path, name in NAMED.findall(page) if name and name[2:] not in names[path]]
    assert missing == []


def test_every_removed_test_names_what_keeps_its_promise_or_says_that_there_is_none() -> None:
    rows = (ROOT / "tests" / "removed.md").read_text(encoding="utf-8").partition("|---|---|\n")[2].splitlines()
    assert len(rows) > 15
    assert [
        row for row in rows if not NAMED.search(row.split("|")[2]) and not row.split("|")[2].startswith(" none: ")
    ] == []
