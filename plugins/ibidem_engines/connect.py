"""From an address to an engine: `sqlite:///path`, `opensearch+http(s)://…`, `elasticsearch+http(s)://…`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from ibidem_core.address import ENGINES, REMEDY, Address, parse_address, redact
from ibidem_core.settings import name_schemes
from ibidem_engines.engine import Engine
from ibidem_engines.sqlite.engine import SqliteEngine
from ibidem_engines.sqlite.file import MAX_SECONDS
from ibidem_ingest.errors import UsageError, kind
from ibidem_ingest.signatures.packed import guard, unpack

_INDEX = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}", re.ASCII)
_RIGHT_SQLITE = "write sqlite:///folder/file.sqlite (from the current folder) or sqlite:////absolute/file.sqlite"


def open_engine(url: str, index: str) -> Engine:
    """Open the engine at an address, without connecting or reading.

    Args:
        url: `sqlite:///folder/file.sqlite`, relative to the current folder, or `sqlite:////absolute/file.sqlite`; or
            a cluster, as `address.parse_address` reads it.
        index: The name of the index: lower-case letters, digits, `-`, `_` and `.`.

    Raises:
        UsageError: An address or a name that is not valid.
    """
    check_name(index)
    if not isinstance(url, str):
        raise UsageError(f"the engine's address is {kind(url)}", f"{_RIGHT_SQLITE}; or {REMEDY}")
    return _sqlite(url, index) if _scheme(url) == "sqlite" else _open_cluster(parse_address(url), index)


def open_for_caller(url: str, index: str, headers: Sequence[tuple[str, str]], timeout: float) -> Engine:
    """Open the engine at an address with a caller's rights; a user or key in the address is not used."""
    check_name(index)
    if _scheme(url) == "sqlite":
        return _sqlite(url, index, timeout)
    address = parse_address(url)
    address = replace(address, user="", password="", api_key="", headers=tuple(headers), timeout=timeout)
    return _open_cluster(address, index)


def check_name(index: str) -> None:
    if not isinstance(index, str) or not _INDEX.fullmatch(index):
        raise UsageError(
            f"index name {index!r} is not allowed",
            "use at most 100 lower-case letters, digits, -, _ and ., a letter or digit first",
        )


def _scheme(url: str) -> str:
    scheme, separator, _ = url.partition("://")
    if scheme not in ENGINES or not separator:
        raise UsageError(f"engine {redact(url)!r}: unknown kind of address", f"use {name_schemes(ENGINES)}")
    return scheme


def _sqlite(url: str, index: str, longest: float = MAX_SECONDS) -> Engine:
    """Open SQLite; a database in memory is refused, since workers are separate processes."""
    location = url.removeprefix("sqlite://")
    path = unquote(location.removeprefix("/"))
    if not location.startswith("/") or not path or path.endswith("/") or path == ":memory:" or "\0" in path:
        raise UsageError(f"engine {redact(url)!r} does not name a file", _RIGHT_SQLITE)
    return SqliteEngine(Path(path), index, longest=longest)


def _open_cluster(address: Address, index: str) -> Engine:
    """Open a cluster; its client is imported only when needed, since that takes long."""
    if address.kind == "opensearch":
        from ibidem_engines.cluster.opensearch import OpenSearchEngine  # noqa: PLC0415 - see above

        return OpenSearchEngine(address, index)
    from ibidem_engines.cluster.elasticsearch import ElasticsearchEngine  # noqa: PLC0415 - see above

    return ElasticsearchEngine(address, index)


SAMPLE = 100  # documents that are looked at; one that changed since it was signed decides nothing alone


def check_distinct(engine: Engine, distinct: Sequence[str], *, writes: bool = False) -> None:
    """Refuse fields that an index was not signed with; whoever only reads may name none."""
    if not (distinct or writes):
        return
    hits = next(iter(engine.scan(size=SAMPLE)), [])
    values = [(hit, unpack(hit.packed)) for hit in hits if hit.packed]
    stored = {(hit.index, hit.id): packed.guard for hit, packed in values if packed is not None}
    wanted = dict.fromkeys(stored, bytes(4))
    if distinct and stored:
        wanted |= {(each.index, each.document.id): guard(each.document, distinct) for each in engine.fetch([*stored])}
    judged = [stored[name] == wanted[name] for name in stored if any(stored[name]) or any(wanted[name])]
    if sum(judged) * 2 < len(judged):
        raise UsageError(
            f"IBIDEM_DISTINCT={','.join(distinct)!r}, but index {engine.index!r} was signed with another value",
            "set it to the value of that time; or sign again: on a cluster with ibidem backfill, else with ibidem "
            "ingest into another IBIDEM_INDEX",
        )
