"""`ibidem worker`: run workers on the configured queue until they are stopped."""

import time
from contextlib import suppress

from rich.text import Text

from ibidem.cli import Sigterm
from ibidem.cli.console import messages
from ibidem_core import logs
from ibidem_core.address import redact
from ibidem_core.errors import Unavailable, retry_unavailable
from ibidem_core.settings import load
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError
from ibidem_workers.executors import Supervisor
from ibidem_workers.groups.follower import settle

LOOK_EVERY = 0.5
SETTLE_INTERVAL = 2.0  # seconds for which documents are grouped between two looks at the workers


def run() -> None:
    """Take documents from the queue, sign and index them, until Ctrl-C or SIGTERM; then finish the batches in hand."""
    settings = load()
    settings = settings.changed(log=settings.log or "info")
    logs.set_up(settings)
    if not settings.broker:
        raise UsageError(
            "there is no queue: IBIDEM_BROKER is not set", "set it to RabbitMQ or Redis; see docs/production.md"
        )
    messages().print(
        f"{settings.workers} at work on {redact(settings.broker)}, queue {settings.queue}; Ctrl-C ends them"
    )
    engine, refusal = open_engine(settings.address, settings.index), ""
    with suppress(Sigterm):
        retry_unavailable(engine.create, settings.patience)
        with Supervisor(settings) as worker:
            while True:
                worker.check()
                try:
                    settle(engine, SETTLE_INTERVAL)
                except Unavailable:  # the workers report it, and wait
                    pass
                except UsageError as error:
                    if str(error) != refusal:  # documents are ingested nevertheless
                        messages().print(Text(f"groups are not settled: {error}"))
                    refusal = str(error)
                time.sleep(LOOK_EVERY)
