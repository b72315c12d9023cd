"""A batch for a cluster is written in portions, several at once, and every document is accounted for."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import orjson
import pytest

from ibidem_core.errors import Unavailable
from ibidem_core.settings import Settings
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write
from servers.fake_server import Answer, Between, Plan, Request, between
from servers.indices import remove_indices
from servers.kinds import CLUSTERS

INDEX = "portions"
DOCUMENTS = 40
BUSY = Answer(429, {"error": {"type": "es_rejected_execution_exception", "reason": "queue is full"}, "status": 429})


@pytest.fixture(params=CLUSTERS)
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    address: str = request.getfixturevalue(request.param)
    remove_indices(address, INDEX)
    with closing(open_engine(address, INDEX)) as engine:
        engine.create()
    yield address
    remove_indices(address, INDEX)


@contextmanager
def worker(address: str, settings: Settings, plan: Plan) -> Iterator[tuple[WorkerContext, Between]]:
    """A worker behind a proxy, which cuts a batch into four portions."""
    with between(address, plan) as server, closing(open_engine(server.address(address.partition("+")[0]), INDEX)) as to:
        assert isinstance(to, ClusterEngine)
        to._cluster.waits = (0.01, 0.02, 0.04)
        small_settings = settings.changed(batch_characters=4_000, patience=30)
        yield WorkerContext(to, Tables(settings.tables), small_settings), server


def delivery(version: int = 1, *, died: bool = False, number: int = 0) -> Delivery:
    words = "we the people of the united states in order to form a more perfect union"
    records = [{"id": f"d{at}", "text": f"{words} {at} times over", "version": version} for at in range(DOCUMENTS)]
    return Delivery("run", number, list(records), died=died)


def bulks(server: Between) -> list[list[str]]:
    bodies = [request.body for request in server.asked if "_bulk" in request.path]
    heads = [[orjson.loads(line) for line in body.splitlines() if line.startswith(b'{"create"')] for body in bodies]
    return [ids for each in heads if (ids := [next(iter(head.values()))["_id"] for head in each])]


def count_of(address: str) -> int:
    with closing(open_engine(address, INDEX)) as engine:
        engine.refresh()
        return engine.info().documents


def test_four_portions_are_under_way_at_the_same_time(address: str, settings: Settings) -> None:
    together = threading.Barrier(4)

    def plan(request: Request) -> Answer | None:
        if b'{"create"' in request.body:
            together.wait(20)
        return None

    with worker(address, settings, plan) as (context, server):
        context.engine._write_mode.expects_new = True  # type: ignore[attr-defined] # as after a first batch
        account = sign_and_write(context, delivery())
        assert len(bulks(server)) == 4
    assert (account.indexed, account.documents, count_of(address)) == (DOCUMENTS, DOCUMENTS, DOCUMENTS)


def test_what_a_busy_server_rejects_is_written_by_fewer_requests_and_counted(address: str, settings: Settings) -> None:
    left, lock = [7], threading.Lock()

    def plan(request: Request) -> Answer | None:
        with lock:
            if b'{"create"' not in request.body or not left[0]:
                return None
            left[0] -= 1
            return BUSY

    with worker(address, settings, plan) as (context, server):
        account = sign_and_write(context, delivery())
        assert context.engine.rejections == 7
        assert {id_ for batch in bulks(server) for id_ in batch} == {f"d{at}" for at in range(DOCUMENTS)}
    assert (account.indexed, account.documents, count_of(address)) == (DOCUMENTS, DOCUMENTS, DOCUMENTS)


def test_a_server_that_stays_busy_leaves_the_batch_unaccounted_for_and_a_later_try_ends_it(
    address: str, settings: Settings
) -> None:
    def plan(request: Request) -> Answer | None:
        return BUSY if b'"d25"' in request.body and b'{"create"' in request.body else None

    with worker(address, settings, plan) as (context, _):
        impatient = replace(context, has_ended=lambda: True)
        with pytest.raises(Unavailable, match="overloaded"):
            sign_and_write(impatient, delivery())
        assert context.engine.get_record("runs", "run/00000000") is None
    with worker(address, settings, lambda _: None) as (context, _):
        account = sign_and_write(context, delivery(died=True))
    assert (account.indexed, account.unchanged, count_of(address)) == (DOCUMENTS, 0, DOCUMENTS)
