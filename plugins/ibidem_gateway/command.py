"""`ibidem serve`: the HTTP gateway and the page. The help is printed without importing the server."""

import os
from contextlib import nullcontext
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import UsageError

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0: all addresses of this machine.")]
Workers = Annotated[int, typer.Option(help="Number of processes.", min=1, max=64)]
Port = Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65_535)]
Mcp = Annotated[
    bool,
    typer.Option("--mcp", help="Instead, let an assistant search, by the Model Context Protocol on standard input."),
]


def run(host: Host = "127.0.0.1", port: Port = 8042, workers: Workers = 1, *, mcp: Mcp = False) -> None:
    """Serve searches over HTTP in the engine's own format, and a page for browsers."""
    if mcp:  # the tools of an assistant (search, inspect, compare, groups) read all that the settings may read
        try:
            from ibidem.retrieval.mcp import server  # noqa: PLC0415 - of an extra
            from ibidem_core.settings import load  # noqa: PLC0415 - the help does not need it
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "mcp":
                raise
            raise UsageError("the package mcp is not installed", "pip install 'ibidem-search[mcp]'") from error
        server(load()).run("stdio")
        return
    with TemporaryDirectory(prefix="ibidem-metrics-") if workers > 1 else nullcontext() as folder:
        if folder:  # processes share metrics in it; the Prometheus library reads its path on import
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        try:
            from ibidem_gateway.app import serve  # noqa: PLC0415 - the gateway's libraries are an extra
        except ModuleNotFoundError as error:
            raise UsageError(f"the gateway needs {error.name}", install_command("gateway")) from error
        serve(host, port, workers)
