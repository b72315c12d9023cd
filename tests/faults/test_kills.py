"""Kill tests with real processes: whatever is killed, every document is in the index once, in its newest version."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from faults.environment import Broker, EngineName, Own, Victim, of_our_own
from faults.round import Round, play, warm_up

SEED = 1987

# Broker and index, what is killed there, and how many documents a round submits; `benchmarks/faults.py` has all.
SETTINGS: list[tuple[Broker, EngineName, tuple[Victim, ...], int]] = [
    ("none", "sqlite", ("worker", "submitter"), 120),
    ("rabbitmq", "sqlite", ("worker", "broker"), 120),
    ("redis", "opensearch", ("worker", "broker", "engine"), 24),
]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", SETTINGS, ids=["none", "rabbitmq", "redis"])
def test_whatever_is_killed_no_document_is_lost_or_there_twice(
    resources: Own, tmp_path: Path, case: tuple[Broker, EngineName, tuple[Victim, ...], int]
) -> None:
    broker, engine, victims, documents = case
    rng = random.Random(SEED)  # noqa: S311 - a lot that can be drawn again
    with of_our_own(resources, tmp_path, broker, engine, rng) as setting:
        assert warm_up(setting, documents).wrong == []
        rounds = [Round.drawn(rng, victim, documents) for victim in victims]
        at_once = [replace(each, after=0.0) for each in rounds if each.victim == "submitter"]  # while its workers start
        for round_ in rounds + at_once:
            assert play(setting, round_).wrong == [], f"seed {SEED}, {round_}"
