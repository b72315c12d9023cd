"""What holds of stored groups after leads were written again."""

import random
from pathlib import Path

import pytest

from ibidem_dedupe.decision import decide
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint, parse_policy
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.service import regroup, settle_all
from support.signed_records import make_record

NAMES = [f"d{number}" for number in range(12)]
WORDS = [f"w{number}" for number in range(400)]


def groups(engine: Engine) -> dict[str, list[str]]:
    """Return the members of each group by its one lead."""
    store = engine.groups()
    store.newest()
    documents = list(store.read([(engine.index, name) for name in NAMES]))
    leads = {each.group: each.name.id for each in documents if each.lead}
    assert len(leads) == sum(each.lead for each in documents)
    return {lead: sorted(each.name.id for each in documents if each.group == group) for group, lead in leads.items()}


def rewrite_leads(engine: Engine, rng: random.Random, steps: tuple[int, ...]) -> None:
    """Settle documents, each a window of one text, then write one lead after the other again."""

    def text() -> str:
        begin = rng.choice(steps)
        return " ".join(WORDS[begin : begin + 80])

    engine.write([make_record(name, text()) for name in NAMES])
    settle_all(engine)
    for version in range(2, 6):
        engine.write([make_record(rng.choice(list(groups(engine))), text(), version=version)])
        settle_all(engine)


@pytest.mark.parametrize("seed", range(3))
def test_every_follower_repeats_its_lead_and_no_lead_another(tmp_path: Path, seed: int) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'index.sqlite'}", "index")
    engine.create()
    rewrite_leads(engine, random.Random(seed), tuple(range(0, 120, 8)))  # noqa: S311 - a lot that can be drawn again
    packed = {hit.id: unpack(hit.packed) for hits in engine.scan() for hit in hits if hit.packed}
    policy = parse_policy(GroupCheckpoint.read(engine).policy)

    def is_pair(a: str, b: str) -> bool:
        one, other = packed[a], packed[b]
        return one is not None and other is not None and decide(one, other, policy) is not None

    found = groups(engine)
    assert sorted(name for members in found.values() for name in members) == sorted(NAMES)
    assert all(is_pair(lead, name) for lead, members in found.items() for name in members if name != lead)
    assert not any(is_pair(a, b) for a in found for b in found if a < b)
    engine.close()


@pytest.mark.parametrize("seed", range(3))
def test_groups_whose_members_all_repeat_each_other_are_those_of_regroup_all(tmp_path: Path, seed: int) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'index.sqlite'}", "index")
    engine.create()
    rewrite_leads(engine, random.Random(seed), (0, 100, 200))  # noqa: S311 - a lot that can be drawn again
    found = sorted(groups(engine).values())
    regroup(engine, everything=True)
    assert sorted(groups(engine).values()) == found
    engine.close()
