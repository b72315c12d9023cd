"""The plugin is asked for what it decides as the layer does, and for nothing else."""

import pytest

from ibidem.grouped_search.plugin_request import decides, plugin_policy, plugin_request
from ibidem_dedupe.request import parse_request


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"dedupe": "indent"}, True),
        ({"dedupe": "collapse", "dedupe_preset": "law", "dedupe_similarity": "40"}, True),
        ({"dedupe": "off"}, False),
        ({"dedupe": "indent", "dedupe_scope": "matches"}, False),
        ({"dedupe": "indent", "dedupe_by": "stored"}, False),
        ({"dedupe": "indent", "dedupe_keep": "latest"}, True),
        ({"dedupe": "indent", "dedupe_keep": "current"}, False),
    ],
)
def test_a_window_is_left_to_the_plugin_and_wider_scopes_are_not(parameters: dict[str, str], expected: bool) -> None:
    assert decides(parse_request(parameters)) == expected


def test_the_figures_that_the_plugin_takes_from_the_names_are_those_of_the_request() -> None:
    request = parse_request({"dedupe": "indent", "dedupe_preset": "news", "dedupe_similarity": "80"})
    assert plugin_policy(request) == request.policy
    asked = plugin_request(request)
    assert (asked["preset"], asked["similarity"], asked["window_days"]) == ("news", 80, 42)
