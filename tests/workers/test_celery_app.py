"""Each broker counts what no worker carries out."""

import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from kombu.utils.imports import symbol_by_name
from redis import Redis

from ibidem_core.errors import EngineError
from ibidem_core.settings import BROKERS as SCHEMES
from ibidem_core.settings import Settings, load
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.brokers.redis import PREFIX, Stream, connect
from ibidem_workers.celery_app import BY_SCHEME, connect_broker, make_app, make_broker
from ibidem_workers.consumer import Consumer
from support.rabbitmq_queues import delete_queues

PATIENCE = 30.0


def given_up_in_a_folder(settings: Settings) -> Callable[[], object]:
    folder = SpoolDirectory(Path(settings.queue_folder or "") / settings.queue, 30)
    folder.put(b"not ours")
    (name,) = folder.names()
    message = folder.take(name, "me")
    assert message is not None
    folder.give_up(message)
    return lambda: None


def given_up_in_redis(settings: Settings) -> Callable[[], object]:
    queue, message = Stream(connect(settings.broker), PREFIX + settings.queue, 30), None
    queue.put(b"not ours")
    while message is None:
        message = queue.get()
    queue.reject(message)
    queue.close()
    key = f"ibidem:{settings.queue}"
    return lambda: Redis.from_url(settings.broker).delete(key, f"{key}:given-up")


def given_up_in_rabbitmq(settings: Settings) -> Callable[[], object]:
    name = f"{settings.queue}-dead"
    with make_app(settings).connection_for_write() as connection:
        connection.Producer().publish("not ours", routing_key=name)

    return lambda: delete_queues(settings)


BROKERS = {
    "filesystem": (given_up_in_a_folder, "that no submitter has sent", "given-up"),
    "redis": (given_up_in_redis, "that no submitter has sent", ":given-up"),
    "rabbitmq": (given_up_in_rabbitmq, "that no submitter has sent, or that ended its workers too often", "-dead"),
}


@pytest.mark.parametrize(
    "broker",
    [
        "filesystem",
        pytest.param("redis", marks=pytest.mark.server("redis")),
        pytest.param("rabbitmq", marks=pytest.mark.server("rabbitmq")),
    ],
)
def test_what_no_worker_carries_out_is_counted_where_it_is_kept(
    request: pytest.FixtureRequest, tmp_path: Path, broker: str
) -> None:
    address = f"filesystem:///{tmp_path}" if broker == "filesystem" else request.getfixturevalue(broker)
    settings = load({"IBIDEM_BROKER": address, "IBIDEM_INDEX": f"apart-{uuid4().hex}"}, tmp_path)
    give_up, problem, where = BROKERS[broker]
    connect_broker(settings)
    assert make_broker(settings).count_rejected().count == 0
    remove = give_up(settings)
    deadline = time.monotonic() + PATIENCE
    while not (rejections := make_broker(settings).count_rejected()).count and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (rejections.count, rejections.what) == (1, problem)
    assert rejections.where.endswith(where)
    remove()


@pytest.mark.slow
@pytest.mark.parametrize("address", ["redis://127.0.0.1:1/0", "amqp://a:b@127.0.0.1:1//"])
def test_a_broker_that_is_away_is_an_error_of_ours(tmp_path: Path, address: str) -> None:
    with pytest.raises(EngineError, match="does not answer"):
        make_broker(load({"IBIDEM_BROKER": address}, tmp_path)).count_rejected()


def test_every_scheme_that_the_settings_take_has_its_broker() -> None:
    assert set(BY_SCHEME) == set(SCHEMES)


def test_the_consumer_that_workers_are_told_to_use_is_ours(settings: Settings) -> None:
    assert symbol_by_name(make_app(settings).conf.worker_consumer) is Consumer
