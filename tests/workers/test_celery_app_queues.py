"""The Celery application: JSON alone, late acknowledgement, one queue for each index."""

import pytest

from ibidem_core.errors import Unavailable
from ibidem_core.settings import Settings
from ibidem_workers.batches import Batch
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.celery_app import connect_broker, make_app, send

BROKERS = ["filesystem:///queue", "amqp://mq.example//", "redis://redis.example/0"]


@pytest.mark.parametrize("broker", BROKERS)
def test_nothing_but_json_is_read_and_nothing_is_acknowledged_early(broker: str) -> None:
    conf = make_app(Settings(broker=broker)).conf
    assert conf.accept_content == ["json"]
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost, conf.worker_prefetch_multiplier) == (True, True, 1)
    assert conf.result_backend is None


def test_a_rabbitmq_queue_is_kept_on_several_nodes_and_gives_poison_up() -> None:
    queue, dead = make_app(Settings(broker="amqp://mq.example//", index="news")).conf.task_queues
    assert queue.queue_arguments["x-queue-type"] == "quorum"
    assert queue.queue_arguments["x-delivery-limit"] > 2 * Settings().tries
    assert queue.queue_arguments["x-dead-letter-routing-key"] == dead.name


def test_a_batch_is_laid_into_the_folder_of_its_index(settings: Settings) -> None:
    send(make_app(settings), "run", Batch(0, [{"id": "a", "text": "x"}]))
    assert settings.queue_folder is not None
    assert SpoolDirectory(settings.queue_folder / "ibidem-ibidem-ingest", 60).count_waiting() == 1


def test_a_broker_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(Unavailable, match="IBIDEM_BROKER") as caught:
        connect_broker(Settings(broker="amqp://me:secret@127.0.0.1:1//"))
    assert "secret" not in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)
