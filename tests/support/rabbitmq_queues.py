"""Removal of the queues that a test has made in RabbitMQ."""

from ibidem_core.settings import Settings
from ibidem_workers.celery_app import make_app


def delete_queues(settings: Settings) -> None:
    app = make_app(settings)
    with app.connection_for_write() as connection:
        for queue in app.conf.task_queues:
            connection.default_channel.queue_delete(queue.name)
