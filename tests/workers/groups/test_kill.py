"""After a kill, the next process that settles groups reaches the same groups as one pass."""

import multiprocessing
import random
import time

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_workers.groups.follower import Follower, settle_all
from workers.groups.test_service import groups, index, plain, signed


def settle(path: str) -> None:
    """Settle portions of three documents until killed."""
    engine = open_engine(path, "news")
    while True:
        Follower(engine, size=3).catch_up()


def killed(path: str, seconds: float) -> None:
    """Start two processes that settle the same index, and kill them after a while."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=settle, args=(path,)) for _ in range(2)]
    for each in processes:
        each.start()
    time.sleep(seconds)
    for each in processes:
        each.kill()
        each.join()


def address_of(engine: Engine) -> str:
    return f"sqlite:////{engine._file.path}"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_killed_processes_leave_the_groups_of_one_plain_pass() -> None:
    rng = random.Random(17)  # noqa: S311 - made-up data keeps no secret
    records = signed(17, families=40, versions=8)
    with index() as engine:
        while records:
            some, records = records[:15], records[15:]
            engine.write(some)
            killed(address_of(engine), rng.uniform(0.0, 0.15))
        settle_all(engine)
        assert groups(engine) == plain(engine)
