"""Set of indexes whose groups are settled as one: found by the records of progress next to their names."""

import pytest

from ibidem_engines.cluster.groups import GroupSet, SettledNames
from ibidem_engines.stored_groups import IndexNames
from ibidem_ingest.errors import UsageError

BOTH = IndexNames(("news",), ("news-1", "news-2"), {"news": ("news-1", "news-2")})
FIRST = {"done": {"news-1/0": 7}}
ALL = {"done": {"news-1/0": 7, "news-2/0": 3}}


def test_indexes_of_which_none_was_settled_are_the_set_of_their_alias() -> None:
    assert SettledNames(BOTH, {}).find() == GroupSet("news")


def test_the_progress_of_the_first_index_becomes_that_of_the_alias_after_a_rollover() -> None:
    assert SettledNames(BOTH, {"news-1": FIRST}).find() == GroupSet("news", FIRST, ("news-1",))


def test_what_a_process_noted_next_to_one_index_while_the_set_began_is_removed() -> None:
    assert SettledNames(BOTH, {"news": ALL, "news-1": FIRST}).find() == GroupSet("news", None, ("news-1",))


def test_a_set_stays_one_where_one_of_its_indexes_is_left_or_named() -> None:
    left = IndexNames(("news",), ("news-2",), {"news": ("news-2",)})
    assert SettledNames(left, {"news": ALL}).find().home == "news"
    named = IndexNames(("news-2",), ("news-2",), {"news": ("news-2",)})
    assert SettledNames(named, {"news": ALL}).find().home == "news"


def test_indexes_of_a_data_stream_are_its_set_by_any_of_their_names() -> None:
    streams = {".ds-logs-1": "logs"}
    names = IndexNames(("alias",), (".ds-logs-1",), {"logs": (".ds-logs-1",)}, streams)
    assert SettledNames(names, {}).find().home == "logs"


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"news-2": FIRST}, "groups of 'news-2' behind 'news' are settled index by index"),
        ({"news-1": FIRST, "news-2": ALL}, "groups of 'news-1', 'news-2' behind 'news' are settled index by index"),
        ({"news": FIRST, "news-2": ALL}, "groups of 'news-2' behind 'news' are settled index by index"),
    ],
)
def test_groups_that_were_settled_apart_are_refused_until_they_are_united(
    entries: dict[str, object], reason: str
) -> None:
    settled = SettledNames(BOTH, entries)
    with pytest.raises(UsageError, match=reason) as caught:
        settled.find()
    assert "ibidem regroup --all" in caught.value.remedy
    first = next(iter(entries.values()))
    others = tuple(name for name in entries if name != "news")
    assert settled.unite([]) == GroupSet("news", None if "news" in entries else first, others)


def test_an_alias_that_shares_some_indexes_with_a_settled_one_is_refused_by_name() -> None:
    names = IndexNames(("news",), BOTH.indices, {**BOTH.aliases, "late": ("news-2",)})
    settled = SettledNames(names, {"late": {"done": {"news-2/0": 3}}})
    for find in (settled.find, lambda: settled.unite([])):
        with pytest.raises(UsageError, match="groups of some indexes behind 'news' are settled with those of 'late'"):
            find()
    assert settled.unite(["late"]).superseded == ("late",)


def test_two_settled_aliases_of_the_same_indexes_are_refused_by_name() -> None:
    names = IndexNames(("news",), BOTH.indices, {**BOTH.aliases, "all": BOTH.indices})
    with pytest.raises(UsageError, match="are settled by several names: 'all', 'news'"):
        SettledNames(names, {"news": ALL, "all": ALL}).find()


def test_groups_by_other_figures_are_not_united() -> None:
    other = {**ALL, "policy": {"window_days": 42}}
    with pytest.raises(UsageError, match="groups of 'news-1', 'news-2' are stored with different figures"):
        SettledNames(BOTH, {"news-1": FIRST, "news-2": other}).unite([])
