"""`ibidem serve`: the HTTP gateway and the page."""

from typing import Annotated

import typer

from ibidem_ingest.errors import UsageError
from ibidem_workers.settings import load

PORT = 8042
LOOPBACK = "127.0.0.1"


def run(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every one of this machine.")] = LOOPBACK,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65_535)] = PORT,
) -> None:
    """Answer searches over HTTP in the engine's own shape, and show a page for people."""
    try:
        from ibidem.gateway.serving import serve  # noqa: PLC0415 - the gateway's libraries are an extra
    except ModuleNotFoundError as error:
        raise UsageError(f"the gateway needs {error.name}", "pip install 'ibidem[gateway]'") from error
    serve(load(), host, port)
