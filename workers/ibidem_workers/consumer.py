"""Celery's consumer without its delayed delivery: our tasks never wait for a time, and it makes 28 queues for that."""

from celery.worker import consumer

DELAYED = "celery.worker.consumer.delayed_delivery:DelayedDelivery"


class Consumer(consumer.Consumer):  # type: ignore[misc] # celery publishes no types
    """What a worker listens with."""

    class Blueprint(consumer.Consumer.Blueprint):  # type: ignore[misc] # likewise
        """The steps of its start."""

        default_steps = tuple(step for step in consumer.Consumer.Blueprint.default_steps if step != DELAYED)
