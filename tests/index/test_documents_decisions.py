"""A manual decision reaches the stored groups of its documents when it is made."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem.index.documents import add_override, remove_override
from ibidem_dedupe.overrides import Verdict
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import GroupCheckpoint
from ibidem_workers.groups.service import regroup, settle_all
from support.signed_records import make_record

GRAIN = "grain prices rose in chicago after the frost of early may had hurt the winter wheat of the plains"
STRIKE = "dock workers in the port of rotterdam went on strike on monday over pay and the length of the night shift"
PAIRS: list[tuple[tuple[str, str], Verdict]] = [(("a", "b"), "not"), (("a", "x"), "same"), (("b", "y"), "same")]


@pytest.fixture
def settled(tmp_path: Path) -> Iterator[Engine]:
    """Two stories, each told twice, whose groups are stored."""
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    engine.create()
    engine.write([make_record(id_, GRAIN) for id_ in "ab"] + [make_record(id_, STRIKE) for id_ in "xy"])
    settle_all(engine)
    yield engine
    engine.close()


def stored(engine: Engine) -> list[list[str]]:
    """The ids of each stored group."""
    store = engine.groups()
    groups: dict[str, list[str]] = {}
    for each in store.read([("news", id_) for id_ in "abxy"]):
        groups.setdefault(each.group, []).append(each.name.id)
    return sorted(sorted(ids) for ids in groups.values())


@pytest.mark.parametrize(("pair", "verdict"), PAIRS)
def test_stored_groups_follow_a_decision_at_once_as_if_all_were_settled_again(
    settled: Engine, pair: tuple[str, str], verdict: Verdict
) -> None:
    assert stored(settled) == [["a", "b"], ["x", "y"]]
    add_override(settled, pair, verdict, author="Ada")
    at_once = stored(settled)
    if (pair, verdict) == (("a", "b"), "not"):
        assert at_once == [["a"], ["b"], ["x", "y"]]
    regroup(settled)
    assert stored(settled) == at_once
    remove_override(settled, *pair)
    assert stored(settled) == [["a", "b"], ["x", "y"]]


def test_a_decision_settles_nothing_where_no_groups_are_stored(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    engine.create()
    engine.write([make_record(id_, GRAIN) for id_ in "ab"])
    add_override(engine, ("a", "b"), "not", author="Ada")
    assert GroupCheckpoint.read(engine) == GroupCheckpoint()
    engine.close()
