"""The Celery application: JSON alone, late acknowledgement, a queue for each index, and what no worker carries out."""

import pytest
from redis import Redis

from faults.environment import wait_for
from ibidem_core.errors import Permanent, Unavailable
from ibidem_core.settings import Settings
from ibidem_workers.celery_app import connect_broker, count_rejected, make_app, send
from servers.kinds import BROKERS
from workers.test_stop import own_queue

PATIENCE = 30.0


@pytest.mark.parametrize("broker", BROKERS)
def test_what_no_worker_carries_out_is_counted_where_it_is_kept(request: pytest.FixtureRequest, broker: str) -> None:
    with own_queue(Settings(broker=request.getfixturevalue(broker)), "apart") as settings:
        connect_broker(settings)
        assert count_rejected(settings)[0] == 0
        dead = f"{settings.queue}-dead"
        if broker == "redis":
            Redis.from_url(settings.broker).lpush(f"ibidem:{dead}", "not ours")
        else:
            with make_app(settings).connection_for_write() as connection:
                connection.Producer().publish("not ours", routing_key=dead)
        wait_for(lambda: count_rejected(settings)[0] > 0, PATIENCE)
        assert count_rejected(settings)[:2] == (1, dead)


ADDRESSES = ["amqp://mq.example//", "redis://redis.example/0"]


@pytest.mark.parametrize("broker", ADDRESSES)
def test_nothing_but_json_is_read_and_nothing_is_acknowledged_early(broker: str) -> None:
    conf = make_app(Settings(broker=broker)).conf
    assert conf.accept_content == ["json"]
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost, conf.worker_prefetch_multiplier) == (True, True, 1)
    assert conf.result_backend is None


def test_a_rabbitmq_queue_is_kept_on_several_nodes_and_gives_poison_up() -> None:
    queue, dead = make_app(Settings(broker="amqp://mq.example//", index="news")).conf.task_queues
    assert queue.queue_arguments["x-queue-type"] == "quorum"
    assert queue.queue_arguments["x-delivery-limit"] > 1_000 * Settings().tries
    assert queue.queue_arguments["x-dead-letter-routing-key"] == dead.name


def test_a_broker_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(Unavailable, match="IBIDEM_BROKER") as caught:
        connect_broker(Settings(broker="amqp://me:secret@127.0.0.1:1//"))
    assert "secret" not in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)


@pytest.mark.server("rabbitmq")
def test_a_wrong_password_is_not_repeated_in_the_message(rabbitmq: str) -> None:
    broker = rabbitmq.replace("guest:guest", "guest:s3cret")
    with pytest.raises(Permanent, match="user and password") as caught:
        connect_broker(Settings(broker=broker))
    assert "s3cret" not in str(caught.value)
    with pytest.raises(Permanent, match="user and password"):
        send(make_app(Settings(broker=broker)), "run", 0, [{"id": "a", "text": "x"}])
