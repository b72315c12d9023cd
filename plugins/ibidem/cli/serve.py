"""`ibidem serve`: the HTTP gateway and the page."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import messages
from ibidem.cli.end_signals import catch_end_signals
from ibidem_core.settings import Settings, load
from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.follow import follow_once_created

LOG = logging.getLogger(__name__)

PORT = 8042
LOOPBACK = "127.0.0.1"

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all addresses of this machine.")]
Workers = Annotated[int, typer.Option(help="Number of processes; each applies the limits separately.", min=1, max=64)]
Follow = Annotated[
    bool, typer.Option("--follow", help="Sign documents that others write to IBIDEM_INDEX, in a separate process.")
]
Port = Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65_535)]


def run(host: Host = LOOPBACK, port: Port = PORT, workers: Workers = 1, following: Follow = False) -> None:
    """Serve searches over HTTP in the engine's own format, and a page for browsers."""
    settings = load()
    with share_metrics() if workers > 1 else nullcontext():
        answer(settings, host, port, workers, companions=[partial(follow_beside, settings)] if following else [])


@contextmanager
def share_metrics() -> Iterator[None]:
    """Let child processes share a folder of metrics; the Prometheus library reads its path on import."""
    with TemporaryDirectory(prefix="ibidem-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


def follow_beside(settings: Settings) -> None:
    """Sign new documents until SIGTERM, and log how many were signed."""
    with catch_end_signals() as has_ended:
        follow_once_created(settings, has_ended, LOG.info)


def answer(
    settings: Settings, host: str, port: int, processes: int = 1, *, companions: Sequence[Callable[[], None]] = ()
) -> None:
    """Serve until Ctrl-C."""
    try:
        from ibidem.gateway.server import serve  # noqa: PLC0415 - the gateway's libraries are an extra
    except ModuleNotFoundError as error:
        raise UsageError(f"the gateway needs {error.name}", install_command("gateway")) from error
    message = f"Index {settings.index!r} at %s (Ctrl-C ends it)"
    serve(settings, (host, port), lambda url: messages().print(Text(message % url)), processes, companions)
