"""The gateway as a server."""

import uvicorn

from ibidem.gateway.app import make_gateway
from ibidem_workers.settings import Settings

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound by itself
SECONDS_TO_END = 10


def serve(settings: Settings, host: str, port: int) -> None:
    """Answer until the process is told to end; requests that are being answered are finished first.

    Args:
        settings: The settings in force.
        host: Address to listen on.
        port: Port to listen on.
    """
    own = () if host in EVERYWHERE else (f"[{host}]" if ":" in host else host,)
    uvicorn.run(
        make_gateway(settings, own),
        host=host,
        port=port,
        server_header=False,
        proxy_headers=False,
        log_level="info",
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
