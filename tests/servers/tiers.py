"""Tiers of tests: what every change may break is run each time, what takes minutes and rarely breaks is run by CI.

`make test` leaves out the tests that are marked `thorough`; `make test-all` runs every test.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

THOROUGH: Mapping[str, str] = {
    "faults/test_busy.py": "floods and network faults wait for servers that do not answer",
    "faults/test_flood.py": "floods and network faults wait for servers that do not answer",
    "faults/test_kills.py": "rounds of killing; each kill by itself is tested where its process is",
    "faults/test_network.py": "floods and network faults wait for servers that do not answer",
    "faults/test_poison.py": "rounds of killing; each kill by itself is tested where its process is",
    "fuzz/": "rounds of mutation; each find is a test of its module",
    "gateway/browser/": "a browser looks at each page; the page itself is tested without one",
    "gateway/test_recipes.py": "clients in other languages are built first",
    "gateway/test_smuggling.py": "requests that nobody meant; the grammar has tests of its own",
    "nodes/": "parts of the trials of three nodes, which `make nodes` runs",
    "plugin/test_mixed.py": "nodes with and without the plugin are started for it",
    "plugin/test_pipelines.py": "starts nodes of its own",
    "plugin/test_recipes.py": "runs the recipes of the plugin's page",
    "plugin/test_same_answers.py": "many seeds in clusters; Java's unit tests hold the golden pages",
    "retrieval/test_frameworks.py": "installs other frameworks; LangChain's part is a doctest",
    "servers/test_compose.py": "reads the whole composition by another program",
    "snippets/": "runs the commands of every page of the documentation",
    "suites/test_suites.py": "the engines' own suites",
    "test_installation.py": "builds and installs archives; CI tries what is uploaded",
    "upgrade/": "unpacks whole indexes of earlier schemas",
}
"""Files and folders of the second tier, and why: which test keeps the promise in the first, or what takes so long."""


def mark_thorough(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of the second tier.

    Args:
        items: All tests that were collected.
    """
    for item in items:
        path = item.path.relative_to(ROOT).as_posix() if item.path.is_relative_to(ROOT) else ""
        if any(path == name or (name.endswith("/") and path.startswith(name)) for name in THOROUGH):
            item.add_marker("thorough")
