"""Set of indexes whose groups are settled as one: found by the records of progress next to their names."""

from typing import Any

import pytest

from ibidem_engines.cluster.groups import SettledNames
from ibidem_engines.stored_groups import IndexNames
from ibidem_ingest.errors import UsageError

BOTH = IndexNames(("news",), ("news-1", "news-2"), {"news": ("news-1", "news-2")})
LEFT = IndexNames(("news",), ("news-2",), {"news": ("news-2",)})  # one of two that is left
NAMED = IndexNames(("news-2",), ("news-2",), {"news": ("news-2",)})
STREAM = IndexNames(("alias",), (".ds-logs-1",), {"logs": (".ds-logs-1",)}, {".ds-logs-1": "logs"})
SAME = IndexNames(("news",), BOTH.indices, {**BOTH.aliases, "all": BOTH.indices})
LATE = IndexNames(("news",), BOTH.indices, {**BOTH.aliases, "late": ("news-2",)})
FIRST = {"done": {"news-1/0": 7}}
ALL = {"done": {"news-1/0": 7, "news-2/0": 3}}


@pytest.mark.parametrize(
    ("names", "entries", "expected"),
    [
        pytest.param(BOTH, {}, ("news", []), id="none was settled"),
        pytest.param(BOTH, {"news-1": FIRST}, ("news", ["news-1"]), id="after a rollover"),
        pytest.param(BOTH, {"news": ALL, "news-1": FIRST}, ("news", ["news-1"]), id="while it began"),
        pytest.param(LEFT, {"news": ALL}, ("news", []), id="one is left"),
        pytest.param(NAMED, {"news": ALL}, ("news", []), id="one is named"),
        pytest.param(STREAM, {}, ("logs", []), id="a data stream by another name"),
    ],
)
def test_indexes_behind_one_name_are_a_set_whose_progress_is_in_one_record(
    names: IndexNames, entries: dict[str, Any], expected: tuple[str, list[str]]
) -> None:
    assert SettledNames(names, entries).find() == expected


@pytest.mark.parametrize(
    ("entries", "apart"),
    [
        ({"news-2": FIRST}, "'news-2'"),
        ({"news-1": FIRST, "news-2": ALL}, "'news-1', 'news-2'"),
        ({"news": FIRST, "news-2": ALL}, "'news-2'"),
    ],
)
def test_groups_that_were_settled_apart_are_refused_until_they_are_united(entries: dict[str, Any], apart: str) -> None:
    settled = SettledNames(BOTH, entries)
    with pytest.raises(UsageError, match=f"groups of {apart} behind 'news' are settled index by index") as caught:
        settled.find()
    assert "ibidem regroup --all" in caught.value.remedy
    assert settled.unite([]) == ("news", [name for name in entries if name != "news"])


def test_an_alias_that_shares_some_indexes_with_a_settled_one_is_refused_by_name() -> None:
    settled = SettledNames(LATE, {"late": {"done": {"news-2/0": 3}}})
    for find in (settled.find, lambda: settled.unite([])):
        with pytest.raises(UsageError, match="groups of some indexes behind 'news' are settled with those of 'late'"):
            find()
    assert settled.unite(["late"]) == ("news", ["late"])


def test_two_settled_aliases_of_the_same_indexes_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="are settled by several names: 'all', 'news'"):
        SettledNames(SAME, {"news": ALL, "all": ALL}).find()


def test_groups_by_other_figures_are_not_united() -> None:
    other = {**ALL, "policy": {"window_days": 42}}
    with pytest.raises(UsageError, match="groups of 'news-1', 'news-2' are stored with different figures"):
        SettledNames(BOTH, {"news-1": FIRST, "news-2": other}).unite([])
