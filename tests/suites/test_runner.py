"""The runner of the suites fails where a test does, and sends searches twice."""

from typing import Any

import pytest

from servers.fake_server import Answer, between
from suites.definitions import SuiteTest, read
from suites.runner import Runner, Skipped, equal, passes, within

REQUESTS = {
    "search": {"url": {"paths": [{"path": "/{index}/_search", "methods": ["GET", "POST"], "parts": {"index": {}}}]}},
    "exists": {"url": {"paths": [{"path": "/{index}", "methods": ["HEAD"], "parts": {"index": {}}}]}},
}
TEST = """
setup:
  - do:
      exists: {index: news}
---
"found":
  - do:
      search: {index: news, size: 1, body: {query: {match_all: {}}}}
  - set: {hits.0._id: id}
  - match: {hits.0._id: $id}
  - match: {took: /^\\d+$/}
  - length: {hits: 1}
  - gte: {took: 3}
---
"refused":
  - do:
      catch: bad_request
      search: {index: news}
---
"elsewhere":
  - skip: {version: "all", reason: none}
"""


def run(name: str, answer: Answer, **options: Any) -> tuple[str, list[str]]:
    by_name = {each.name: each for each in read("chapter", "file", TEST)}
    with between(plan=lambda request: Answer(200, b"") if request.method == "HEAD" else answer) as server:
        runner = Runner(f"http://127.0.0.1:{server.port}", REQUESTS, (3, 8, 0), **options)
        try:
            return passes(runner, by_name[f"file: {name}"]), [each.path for each in server.asked]
        finally:
            runner.close()


def test_a_search_is_sent_again_with_dedupe_off_and_both_answers_are_checked() -> None:
    why, requests = run("found", Answer(200, {"took": 3, "hits": [{"_id": "a"}]}), retry=True)
    assert (why, requests) == ("", ["/news", "/news/_search?size=1", "/news/_search?size=1&dedupe=off"])


@pytest.mark.parametrize("content", [{"took": 2, "hits": [{}]}, {"took": 3, "hits": []}, {"took": "x", "hits": [{}]}])
def test_an_answer_that_is_not_what_a_test_wants_fails_it(content: object) -> None:
    assert run("found", Answer(200, content))[0]


def test_a_status_that_is_not_what_a_test_wants_fails_it() -> None:
    assert run("refused", Answer(400, {}))[0] == ""
    assert "wanted bad_request" in run("refused", Answer(404, {}))[0]
    assert "wanted bad_request" in run("refused", Answer(200, {}))[0]


def test_what_is_for_other_versions_is_skipped() -> None:
    with pytest.raises(Skipped):
        run("elsewhere", Answer(200, {}))
    assert [within(" - 2.9.99", (2, 4)), within("3.9.0 - ", (3, 8, 0))] == [True, False]


@pytest.mark.parametrize(
    ("actual", "expected", "right"), [(1, 1.0, True), ("10 ms", "/ms/", True), ([1], [1, 2], False), (True, 1, True)]
)
def test_values_are_compared_as_the_engines_do(actual: object, expected: object, right: bool) -> None:
    assert equal(actual, expected) is right


def test_a_file_without_a_setup_is_read() -> None:
    (test,) = read("chapter", "file", '"one":\n  - do: {exists: {index: a}}\n')
    assert (type(test), test.setup) == (SuiteTest, ())
