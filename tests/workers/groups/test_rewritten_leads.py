"""What holds of stored groups after leads were written again."""

import random

import pytest

from ibidem_engines.engine import Engine
from ibidem_workers.groups.follower import regroup, settle_all
from support.signed_records import make_record
from workers.groups.test_service import check, groups, index

NAMES = [f"d{number}" for number in range(12)]
WORDS = [f"w{number}" for number in range(400)]


def rewrite_leads(engine: Engine, rng: random.Random, steps: tuple[int, ...]) -> None:
    """Settle documents, each a window of one text, then write one lead after the other again."""

    def text() -> str:
        begin = rng.choice(steps)
        return " ".join(WORDS[begin : begin + 80])

    engine.write([make_record(name, text()) for name in NAMES])
    settle_all(engine)
    for version in range(2, 6):
        engine.write([make_record(rng.choice(sorted(set(groups(engine).values()))), text(), version=version)])
        settle_all(engine)


@pytest.mark.parametrize("seed", range(3))
def test_every_follower_repeats_its_lead_and_no_lead_another(seed: int) -> None:
    with index() as engine:
        rewrite_leads(engine, random.Random(seed), tuple(range(0, 120, 8)))  # noqa: S311 - a lot that can be drawn again
        assert groups(engine).keys() == set(NAMES)
        check(engine)


@pytest.mark.parametrize("seed", range(3))
def test_groups_whose_members_all_repeat_each_other_are_those_of_regroup_all(seed: int) -> None:
    with index() as engine:
        rewrite_leads(engine, random.Random(seed), (0, 100, 200))  # noqa: S311 - a lot that can be drawn again
        found = members(engine)
        regroup(engine, everything=True)
        assert members(engine) == found


def members(engine: Engine) -> list[list[str]]:
    leads = groups(engine)
    return sorted(sorted(name for name in leads if leads[name] == lead) for lead in set(leads.values()))
