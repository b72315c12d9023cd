"""Match shared through a broker: workers take it up, and whoever is killed, the groups are those of one plain pass."""

import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from uuid import uuid4

import pytest
from redis import Redis

from faults.environment import wait_for
from faults.kill import kill
from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import Overrides
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import POLICY
from ibidem_workers.celery_app import CeleryMatchQueue, connect_broker, match_queue
from ibidem_workers.groups import follower
from ibidem_workers.groups.block import Row, Rules
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.lookup_match import LookUpMatch, make_row
from ibidem_workers.groups.match_task import OPEN
from ibidem_workers.groups.service import settle_all
from ibidem_workers.groups.settle import Settler
from ibidem_workers.groups.shared_match import SharedMatch
from ibidem_workers.pool import Pool
from support.rabbitmq_queues import delete_queues
from workers.groups.test_service import groups, plain, signed, stored

SIZE = 5  # documents in a part


@pytest.fixture(
    params=["file", *(pytest.param(name, marks=pytest.mark.server(name)) for name in ("rabbitmq", "redis"))]
)
def shared(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Settings]:
    """Settings with each of the brokers, under a name that no other run uses."""
    kind = request.param
    broker = settings.broker if kind == "file" else request.getfixturevalue(kind)
    own_settings = settings.changed(broker=broker, index=f"match-{uuid4().hex}", concurrency=1)
    connect_broker(own_settings)
    engine = open_engine(own_settings.engine, own_settings.index)
    engine.create()
    engine.close()
    yield own_settings
    if kind == "redis":
        Redis.from_url(broker).delete(*(f"ibidem:{name}" for name in (own_settings.queue, match_queue(own_settings))))
    elif kind == "rabbitmq":
        delete_queues(own_settings)


def answers(engine: Engine) -> int:
    return sum(1 for _ in engine.get_records("runs", f"{OPEN}/"))


def wait_until_ready(pool: Pool) -> None:
    while not pool.is_ready:
        pool.check()
        time.sleep(0.05)


@pytest.mark.slow
def test_workers_on_the_queue_match_all_parts_of_a_block(shared: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine(shared.engine, shared.index)
    records = signed(17, families=10)
    engine.write(records[:20])
    Follower(engine).catch_up()
    engine.write(records[20:])
    store = engine.groups()
    new = [each for each in stored(engine) if each.name.order > 20]
    rows, marks = [make_row(each) for each in new], dict.fromkeys(store.parts(), 20)
    settler = Settler(store, Rules(POLICY, Overrides()))
    expected = LookUpMatch(store, settler.rules, marks).joins(rows)
    monkeypatch.setattr(LookUpMatch, "first_leads", never)
    with Pool(shared) as pool:
        wait_until_ready(pool)

        def wait_for_answers() -> None:
            assert wait_for(lambda: answers(engine) == -(-len(rows) // SIZE), 60)

        shared_match = SharedMatch(engine, settler, CeleryMatchQueue(shared), wait_for_answers, SIZE)
        found = shared_match(rows, marks)
    assert found == expected
    assert answers(engine) == 0
    engine.close()


def never(_: LookUpMatch, rows: Sequence[Row]) -> None:
    raise AssertionError(f"{len(rows)} documents were matched by who settles")


def settle(settings: Settings) -> None:
    """Settle blocks of some documents by look-ups until killed."""
    follower.LEADS_PER_DOCUMENT, follower.MAX_PORTION = -1, 6 * SIZE
    engine, queue = open_engine(settings.engine, settings.index), CeleryMatchQueue(settings)
    while True:
        Follower(engine, size=2 * SIZE, many=1, queue=queue).catch_up()


@pytest.mark.slow
def test_whoever_is_killed_the_groups_are_those_of_one_plain_pass(shared: Settings) -> None:
    rng = random.Random(17)  # noqa: S311 - made-up data keeps no secret
    engine = open_engine(shared.engine, shared.index)
    records = signed(17, families=20, versions=8)
    context = multiprocessing.get_context("fork")
    with Pool(shared) as pool:
        wait_until_ready(pool)
        while records:
            some, records = records[:30], records[30:]
            engine.write(some)
            holder = context.Process(target=partial(settle, shared))
            holder.start()
            wait_for(lambda: engine.get_record("runs", OPEN) is not None, 5)
            time.sleep(rng.uniform(0.0, 0.15))
            kill(rng.choice(pool.pids))
            time.sleep(rng.uniform(0.0, 0.15))
            holder.kill()
            holder.join()
            pool.check()
            wait_until_ready(pool)
        settle_all(engine, queue=CeleryMatchQueue(shared))
    assert groups(engine) == plain(engine)
    engine.close()
