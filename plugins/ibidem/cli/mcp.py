"""`ibidem mcp`: a server of the Model Context Protocol on standard input and output."""

from ibidem_core.settings import load
from ibidem_ingest.errors import UsageError


def run() -> None:
    """Let an assistant search the index, by the Model Context Protocol on standard input and output.

    Its tools (search, inspect, compare, groups) read and never write. They see all that the settings may see.
    """
    try:
        from ibidem.retrieval.mcp import server  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise UsageError("the package mcp is not installed", "pip install 'ibidem-search[mcp]'") from error
    server(load()).run("stdio")
