"""What a worker listens with."""

from celery.worker import consumer

from ibidem_workers.consumer import DELAYED, Consumer


def test_nothing_but_delayed_delivery_is_left_out() -> None:
    every = list(consumer.Consumer.Blueprint.default_steps)
    every.remove(DELAYED)
    assert list(Consumer.Blueprint.default_steps) == every
