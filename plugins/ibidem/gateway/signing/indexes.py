"""Signed indexes, as far as each caller may know of them."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal
from urllib.parse import quote

import orjson

from ibidem.gateway.signing.documents import Fate
from ibidem.gateway.upstream import Caller, Upstream
from ibidem_engines.cluster.index import MISSING
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.schema import SCHEMA

_PARTS = ",".join(
    (
        "*.aliases",
        "*.mappings._meta.ibidem",
        "*.settings.index.default_pipeline",
        "*.settings.index.final_pipeline",
        "error",
    )
)
_TABLES = orjson.dumps({"size": 0, "aggs": {"tables": {"terms": {"field": "ibidem.idf", "size": 100}}}})

SIGNED_S, OTHERS_S = 20.0, 5.0
"""Seconds for which it is believed that an index is signed, and that it is not: another may take its place."""

MOST = 1_000
"""Indexes of which it is remembered, each as one caller knows it."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """State of an index that documents are written to.

    Args:
        layout: Layout of its signatures; empty when it has none.
        obstacle: Why nothing that is written to it can be signed; empty when it can.
        pipeline: Whether its documents go through a pipeline, unless a request says otherwise.
    """

    layout: str = ""
    obstacle: Fate | Literal[""] = ""
    pipeline: bool = False

    @property
    def is_signed(self) -> bool:
        """Whether it has signatures, or may have."""
        return bool(self.layout or self.obstacle)


NONE = IndexState()

MISSING_INDEX = IndexState()
"""An index that is not there: the next document may make it, so it is asked for again."""


@dataclass(slots=True)
class SignedIndexes:
    """Remembers which indexes are signed.

    Args:
        upstream: The engine.
        tables: Folder of the idf tables.
    """

    upstream: Upstream
    tables: Path
    _states: OrderedDict[tuple[str, Caller], tuple[float, IndexState]] = field(default_factory=OrderedDict)

    async def get(self, index: str, caller: Caller) -> IndexState:
        """Return whether an index is signed.

        Args:
            index: Its name, or that of an alias or a data stream.
            caller: User who writes.

        Raises:
            HttpError: The engine does not answer.
        """
        key = index, caller
        expiry, state = self._states.get(key, (0.0, NONE))
        if expiry < monotonic():
            state = await self._read(index, caller)
            self._states.pop(key, None)
            if state is not MISSING_INDEX:
                self._states[key] = monotonic() + (SIGNED_S if state.layout else OTHERS_S), state
            if len(self._states) > MOST:
                self._states.popitem(last=False)
        return state

    def forget(self) -> None:
        """Ask again of every index: one was made, changed or removed."""
        self._states.clear()

    async def _read(self, index: str, caller: Caller) -> IndexState:
        if not index or "," in index or "*" in index:
            return NONE
        path = f"/{quote(index, safe='')}"
        reply = await self.upstream.send("GET", f"{path}?filter_path={_PARTS}", _headers(caller), None)
        if reply.status == MISSING:
            return MISSING_INDEX
        if reply.status >= 400:
            return IndexState(obstacle="rights")
        state = read_index_state(orjson.loads(reply.body))
        if not state.layout or state.obstacle:
            return state
        response = await self.upstream.send("POST", f"{path}/_search", _headers(caller, "application/json"), _TABLES)
        if response.status < 400:
            names = [each["key"] for each in orjson.loads(response.body)["aggregations"]["tables"]["buckets"]]
            if await asyncio.to_thread(has_other_tables, names, self.tables):
                return IndexState(state.layout, "table", state.pipeline)
        return state


def read_index_state(answer: Mapping[str, Any]) -> IndexState:
    """Read how the indexes behind one name are made.

    Args:
        answer: What the engine says of each.

    >>> read_index_state({"news": {"mappings": {}}}).is_signed
    False
    """
    targets = {name: metadata for name, metadata in answer.items() if takes_writes(metadata)} or answer
    metas = [metadata.get("mappings", {}).get("_meta", {}).get("ibidem") for metadata in targets.values()]
    if not metas or not all(isinstance(each, dict) for each in metas):
        return NONE
    layout = "full" if any(each.get("layout", "full") == "full" for each in metas) else "lean"
    settings = [metadata.get("settings", {}).get("index", {}) for metadata in targets.values()]
    pipelines = {each.get(name, "_none") for each in settings for name in ("default_pipeline", "final_pipeline")}
    other_schema = any(str(each.get("schema", "")) != SCHEMA for each in metas)
    return IndexState(layout, "schema" if other_schema else "", pipelines != {"_none"})


def takes_writes(metadata: Mapping[str, Any]) -> bool:
    """Return whether an index is the one behind an alias that documents go to."""
    return any(alias.get("is_write_index") for alias in metadata.get("aliases", {}).values())


def has_other_tables(names: Iterable[str], folder: Path) -> bool:
    """Return whether an index was signed with an idf table that is no longer the one of its language.

    One that this folder does not hold cannot be judged.

    Args:
        names: The index's tables.
        folder: Where the tables are.
    """
    tables = Tables(folder)
    for name in filter(None, names):
        table = tables.named(name)
        current = tables.of(table.language) if table is not None else None
        if current is not None and current.name != name:
            return True
    return False


def _headers(caller: Caller, kind: str = "") -> list[tuple[str, str]]:
    return [*caller.headers, ("accept", "application/json"), *([("content-type", kind)] if kind else [])]
