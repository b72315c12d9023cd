"""Progress of settling is kept as it was noted, and of a damaged note the policy alone."""

from collections.abc import Mapping
from dataclasses import asdict

import pytest

from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import KEY, POLICY, Conflict, GroupCheckpoint, checkpoint_of, has_settled
from ibidem_engines.stored_groups import ShardRef

NEWS, OLD, NEW = ShardRef("news", 1), ShardRef("old"), ShardRef("new")


@pytest.fixture
def noted() -> GroupCheckpoint:
    """A checkpoint of which each field holds something."""
    return GroupCheckpoint(
        done={"news/1": 7, "old/0": 5},
        seen={"news/1": 9, "old/0": 5},
        joined={"near": 3, "identical": 1},
        in_hand=[("news", "a"), ("old", "b")],
        takeovers=2,
        deletions=4,
        overrides={"key": "hash"},
        policy=asdict(Policy(window_days=42)),
        origin="named",
        everything=True,
        uuids={"news": "n1", "old": "o1"},
    )


@pytest.mark.parametrize(
    ("known", "now", "kept"),
    [
        ({"news": "n1", "old": "o1"}, {"news": "n1", "old": "o1", "new": "w1"}, {"news/1", "old/0"}),
        ({"news": "n1", "old": "o1"}, {"news": "n1", "old": "o2"}, {"news/1"}),
        ({"news": "n1", "old": "o1"}, {"old": "o1"}, {"old/0"}),
        ({"old": "o1"}, {"news": "n1", "old": "o1"}, {"news/1", "old/0"}),
        ({}, {}, {"news/1", "old/0"}),
    ],
)
def test_the_progress_of_an_index_that_was_made_again_is_forgotten_and_that_of_no_other(
    noted: GroupCheckpoint, known: dict[str, str], now: dict[str, str], kept: set[str]
) -> None:
    noted.uuids = known
    assert noted.follow_indices([NEWS, OLD, NEW], now) is (kept != {"news/1", "old/0"})
    assert (set(noted.done), set(noted.seen), noted.uuids) == (kept, kept, now)
    assert noted.settled_write(NEWS) == (7 if "news/1" in kept else 0)


@pytest.mark.parametrize("other", ["done", "seen"])
def test_the_progress_of_an_index_that_is_gone_is_forgotten_wherever_it_was_noted(
    noted: GroupCheckpoint, other: str
) -> None:
    del getattr(noted, other)["old/0"]
    assert noted.follow_indices([NEWS], {"news": "n1", "old": "o1"})
    assert (noted.done, noted.seen) == ({"news/1": 7}, {"news/1": 9})
    assert not noted.follow_indices([NEWS], {"news": "n1"})


def test_a_checkpoint_is_read_as_it_was_written(engine: Engine, noted: GroupCheckpoint) -> None:
    assert GroupCheckpoint.read(engine) == GroupCheckpoint()
    noted.save(engine)
    assert GroupCheckpoint.read(engine) == noted
    assert GroupCheckpoint.read(engine).joined == {"near": 3, "identical": 1}
    assert engine.get_record("groups", KEY).keys() == asdict(noted).keys() - {"state"}


def test_who_takes_over_is_counted_and_the_other_writes_no_more(engine: Engine, noted: GroupCheckpoint) -> None:
    noted.save(engine)
    one, other = GroupCheckpoint.read(engine), GroupCheckpoint.read(engine)
    one.take_over(engine)
    assert GroupCheckpoint.read(engine).takeovers == 3
    for _ in range(2):
        with pytest.raises(Conflict):
            other.save(engine)
    noted.put(engine)  # who begins again writes whatever is there
    assert GroupCheckpoint.read(engine) == noted


@pytest.mark.parametrize(
    ("change", "window_days"),
    [
        ({}, 42),
        ({"done": "all"}, 42),
        ({"seen": {"no part": 3}}, 42),
        ({"done": "all", "policy": {"window_days": "many"}}, POLICY.window_days),
        ({"policy": None}, POLICY.window_days),
    ],
)
def test_of_a_damaged_checkpoint_the_policy_is_kept_if_it_can_be_read(
    noted: GroupCheckpoint, change: Mapping[str, object], window_days: int
) -> None:
    kept = GroupCheckpoint(policy=noted.policy, origin=noted.origin) if window_days else GroupCheckpoint()
    assert checkpoint_of({**asdict(noted), **change}) == (kept if change else noted)


def test_a_part_without_a_write_is_settled_before_it_was_ever_looked_at(engine: Engine) -> None:
    assert (has_settled(engine, {NEW: 0}), has_settled(engine, {NEW: 1})) == (True, False)
    assert GroupCheckpoint().settled_write(NEW) == 0
