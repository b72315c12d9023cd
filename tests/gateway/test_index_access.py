"""Callers may name only open indexes."""

import pytest

from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import check_expansion, check_indexes, is_allowed
from ibidem_core.settings import Settings

NEWS = Settings(index="ibidem", gateway_indexes=("news-*", "law"))


@pytest.mark.parametrize("pattern", ["law", "news-2026", "news-*", "news-2026-*", "law,news-1"])
def test_what_the_setting_covers_is_open(pattern: str) -> None:
    assert check_indexes(pattern, NEWS) == pattern


@pytest.mark.parametrize("pattern", ["*", "_all", "lawyers", "n*", "news*", "law,secret", "l?w", "ibidem", "[l]aw"])
def test_what_reaches_beyond_the_setting_is_not(pattern: str) -> None:
    with pytest.raises(HttpError) as error:
        check_indexes(pattern, NEWS)
    assert error.value.status in (400, 403)


@pytest.mark.parametrize(
    "pattern",
    ["", "law,", "..", "news-../secret", "news-..", "<news-{now/d", "cluster:news-1", "news-1,-news-2", "a b"],
)
def test_what_names_no_index_is_refused_before_the_engine_sees_it(pattern: str) -> None:
    with pytest.raises(HttpError) as error:
        check_indexes(pattern, Settings(gateway_indexes=("*", "law")))
    assert error.value.status == 400


@pytest.mark.parametrize(
    "name",
    ["<news-{now/d}>", "<news-{now-1d/M{yyyy.MM|+12:00}}>", "<news-{now{yyyy|Europe/Rome}}-x>", "law,<news-{now+2w}>"],
)
def test_an_index_may_be_named_by_a_date(name: str) -> None:
    assert check_indexes(name, NEWS) == name


@pytest.mark.parametrize(
    "name",
    [
        *("<{now/d}>", "<n{now/d}>", "<secret-{now}>", "<news{now}>", "<secret>", "<news-{now{'x'}}>", "<news-{now}"),
        *(
            "<news-*{now}>",
            "<-news-{now}>",
            "-<news-{now}>",
            "<news-{now}>x",
            "<news-{now}:x>",
            "<news-{now{yyyy,MM}}>",
        ),
        *("<news-..{now}>", "<news-{now/d}>/x", "<<news-{now}>>", '<news-{now{"x"}}>', "<news-{date}>"),
    ],
)
def test_a_date_opens_no_other_index(name: str) -> None:
    with pytest.raises(HttpError) as error:
        check_indexes(name, NEWS)
    assert error.value.status in (400, 403)


def test_with_nothing_set_only_the_index_of_the_settings_is_open() -> None:
    assert is_allowed("ibidem", Settings())
    assert not is_allowed("ibidem-ibidem-overrides", Settings())


def test_brackets_in_a_setting_stand_for_themselves() -> None:
    assert not is_allowed("a", Settings(gateway_indexes=("[ab]",)))


@pytest.mark.parametrize("ledger", ["runs", "dead", "tombstones", "overrides", "alerts", "presets", "tags"])
def test_a_pattern_opens_no_ledger_which_its_name_does(ledger: str) -> None:
    name = f"news-1-ibidem-{ledger}"
    assert not is_allowed(name, NEWS)
    assert is_allowed(name, Settings(gateway_indexes=("news-*", name)))
    assert is_allowed(name, Settings(gateway_indexes=("*",)))


@pytest.mark.parametrize("value", ["all", "open,hidden", ["open", "hidden"], "ALL", "open, hidden"])
def test_no_wildcard_reaches_hidden_indexes_while_not_all_are_open(value: object) -> None:
    with pytest.raises(HttpError, match="hidden"):
        check_expansion(value, NEWS)
    check_expansion(value, Settings(gateway_indexes=("*",)))


@pytest.mark.parametrize("value", ["", "open", "open,closed", "none"])
def test_other_expansions_are_the_engines_affair(value: str) -> None:
    check_expansion(value, NEWS)
