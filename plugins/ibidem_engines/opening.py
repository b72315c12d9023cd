"""From an address to an engine: `sqlite:///path`, `opensearch+http(s)://…`, `elasticsearch+http(s)://…`."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from ibidem_engines.address import RIGHT, parse_address, without_secrets
from ibidem_engines.engine import Engine
from ibidem_engines.sqlite import SqliteEngine
from ibidem_ingest.errors import UsageError

_INDEX = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}", re.ASCII)
_RIGHT_SQLITE = "write sqlite:///folder/file.sqlite (from the current folder) or sqlite:////absolute/file.sqlite"


def open_engine(url: str, index: str) -> Engine:
    """Open the engine at an address; nothing is read, made or connected yet.

    Args:
        url: `sqlite:///folder/file.sqlite`, relative to the current folder, or `sqlite:////absolute/file.sqlite`; or
            a cluster, as `address.parse_address` reads it.
        index: The name of the index: lower-case letters, digits, `-` and `_`.

    Raises:
        UsageError: An address or a name that is not understood.
    """
    scheme = url.partition("://")[0]
    if scheme not in _ENGINES or scheme == url:
        raise UsageError(f"engine {without_secrets(url)!r} is not understood", f"{_RIGHT_SQLITE}; or {RIGHT}")
    if not _INDEX.fullmatch(index):
        raise UsageError(
            f"index name {index!r} is not allowed",
            "use at most 100 lower-case letters, digits, - and _, a letter or digit first",
        )
    return _ENGINES[scheme](url, index)


def _sqlite(url: str, index: str) -> Engine:
    """Open the embedded engine; a database in memory is refused, since workers are other processes."""
    rest = url.removeprefix("sqlite://")
    path = unquote(rest.removeprefix("/"))
    if not rest.startswith("/") or not path or path.endswith("/") or path == ":memory:" or "\0" in path:
        raise UsageError(f"engine 'sqlite://{rest}' names no file", _RIGHT_SQLITE)
    return SqliteEngine(Path(path), index)


def _cluster(url: str, index: str) -> Engine:
    """Open a cluster; its client is loaded only here, since that takes longer than most commands."""
    address = parse_address(url)
    if address.kind == "opensearch":
        from ibidem_engines.opensearch import OpenSearchEngine  # noqa: PLC0415 - see above

        return OpenSearchEngine(address, index)
    from ibidem_engines.elasticsearch import ElasticsearchEngine  # noqa: PLC0415 - see above

    return ElasticsearchEngine(address, index)


_CLUSTERS = ("opensearch+http", "opensearch+https", "elasticsearch+http", "elasticsearch+https")
_ENGINES: dict[str, Callable[[str, str], Engine]] = {"sqlite": _sqlite, **dict.fromkeys(_CLUSTERS, _cluster)}
