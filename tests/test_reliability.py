"""`docs/reliability.md`: every promise names the test that holds it, and that test is there."""

import re
from pathlib import Path

import pytest

from support.named_tests import names_of_tests

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
TESTS = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`")
PROMISE = re.compile(r"^\| (?!promise|---|watch|it happens)(.+) \| (.+) \|$", re.MULTILINE)


@pytest.mark.parametrize(("path", "name"), TESTS.findall(PAGE.read_text(encoding="utf-8")))
def test_every_test_that_the_page_names_is_there(path: str, name: str) -> None:
    assert name.removeprefix("::") in names_of_tests(ROOT / path)


def test_every_promise_names_what_holds_it() -> None:
    promises = PAGE.read_text(encoding="utf-8").partition("## For operators")[0]
    rows = PROMISE.findall(promises)
    assert len(rows) > 20
    assert not [promise for promise, evidence in rows if not TESTS.search(evidence) and "benchmarks/" not in evidence]
