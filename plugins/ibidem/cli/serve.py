"""`ibidem serve`: the HTTP gateway and the page."""

from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import messages
from ibidem_ingest.errors import UsageError
from ibidem_workers.settings import Settings, load

PORT = 8042
LOOPBACK = "127.0.0.1"

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every one of this machine.")]
Port = Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65_535)]


def run(host: Host = LOOPBACK, port: Port = PORT) -> None:
    """Answer searches over HTTP in the engine's own shape, and show a page for people."""
    answer(load(), host, port)


def answer(settings: Settings, host: str, port: int) -> None:
    """Serve until Ctrl-C.

    Args:
        settings: The settings in force.
        host: Address to listen on.
        port: Port to listen on.

    Raises:
        UsageError: The gateway's libraries are not installed, or the address cannot be listened on.
    """
    try:
        from ibidem.gateway.app import serve  # noqa: PLC0415 - the gateway's libraries are an extra
    except ModuleNotFoundError as error:
        raise UsageError(f"the gateway needs {error.name}", "pip install 'ibidem[gateway]'") from error
    told = f"Index {settings.index!r} at %s (Ctrl-C ends it)"
    serve(settings, host, port, lambda url: messages().print(Text(told % url)))
