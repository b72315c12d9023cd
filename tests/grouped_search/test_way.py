"""The way of a search, as the cases say that the plugin in Java reads too, and what is left to the plugin."""

import json
from pathlib import Path
from typing import Any

import pytest

from ibidem.grouped_search.backend import IndexState, choose_way, decides
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.ledger import GroupCheckpoint, policy_as_record
from ibidem_engines.stored_groups import Coverage

CASES = Path(__file__).parents[1] / "plugin" / "golden" / "ways.jsonl"


@pytest.mark.parametrize("line", CASES.read_text(encoding="utf-8").splitlines())
def test_each_case_is_decided_as_it_is_written_down(line: str) -> None:
    case: dict[str, Any] = json.loads(line)
    request = parse_request({name if name == "dedupe" else f"dedupe_{name}": v for name, v in case["request"].items()})
    given = case["state"]
    checkpoint = GroupCheckpoint.from_record(given["checkpoint"])
    coverage = Coverage(given["documents"], given["ungrouped"], given["unsettled"], given["has_content"])
    way = choose_way(request, IndexState(checkpoint, coverage, given["decisions"]))
    assert (way.request.by, way.rule, way.why) == (case["by"], case["rule"], case["why"])
    assert policy_as_record(way.request.policy) == {**case["policy"]}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"dedupe": "indent", "dedupe_by": "window"}, True),
        ({"dedupe": "collapse", "dedupe_by": "window", "dedupe_similarity": "40"}, True),
        ({"dedupe": "off"}, False),
        ({"dedupe": "indent", "dedupe_scope": "matches"}, False),
        ({"dedupe": "indent", "dedupe_by": "stored"}, False),
        ({"dedupe": "indent", "dedupe_by": "window", "dedupe_keep": "latest"}, True),
        ({"dedupe": "indent", "dedupe_keep": "current"}, False),
    ],
)
def test_a_window_is_left_to_the_plugin_and_wider_scopes_are_not(parameters: dict[str, str], expected: bool) -> None:
    assert decides(parse_request(parameters)) == expected
