"""One portion: what changes between reading and writing is settled as it is then, and counted once."""

from unittest.mock import patch

import pytest

from ibidem_engines.sqlite.groups import SqliteGroups
from ibidem_engines.stored_groups import group_store
from ibidem_workers.groups.follower import Follower
from workers.groups.test_follower import OTHER, TEXT, before_a_write, followers, joined, write
from workers.groups.test_service import check, groups, index


def test_a_document_that_changes_between_reading_and_writing_joins_and_counts_once() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        with before_a_write(engine, lambda: write(engine, 2, b=f"{TEXT} again")):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "a"}
        assert joined(engine) == followers(engine) == 1


def test_a_document_that_leaves_the_text_that_it_was_to_join_for_is_not_counted() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        with before_a_write(engine, lambda: write(engine, 2, b=OTHER)):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "b"}
        assert joined(engine) == 0


def test_a_join_that_is_written_twice_since_its_answer_was_lost_counts_once() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        kind = type(group_store(engine))
        assign = kind.assign
        with patch.object(kind, "assign", lambda self, changes: [assign(self, changes) for _ in range(2)][1]):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "a"}
        assert joined(engine) == 1


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a cluster, no write counts as a deletion, after which groups without a lead are looked for."""
    monkeypatch.setattr(SqliteGroups, "deletions", lambda _: 0)


@pytest.mark.usefixtures("uncounted")
def test_where_the_next_lead_changes_while_a_group_is_split_the_rest_of_it_gets_a_lead() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again", d=f"{TEXT} on")
        Follower(engine).catch_up()
        write(engine, 2, a=OTHER)  # its followers keep the group's name under the first of them
        with before_a_write(engine, lambda: write(engine, 3, b=OTHER)):
            Follower(engine).catch_up()
        check(engine)
        assert groups(engine) == {"a": "b", "b": "b", "c": "c", "d": "c"}
