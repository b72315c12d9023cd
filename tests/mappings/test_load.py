"""Layouts by name."""

import pytest

from ibidem_mappings import load, names


@pytest.mark.parametrize("name", names())
def test_every_layout_that_is_listed_is_read(name: str) -> None:
    assert load(name).strip()


@pytest.mark.parametrize("name", ["sqlite", "../ibidem_mappings/sqlite.v4.sql", "", "sqlite.v0.sql"])
def test_an_unknown_layout_lists_those_that_there_are(name: str) -> None:
    with pytest.raises(LookupError, match=r"sqlite\.v4\.sql"):
        load(name)
