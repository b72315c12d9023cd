"""Where a search is sent: to an index, several, an alias, or a point in time of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from ibidem_engines.exchange import Ask

WHOLE = {"allow_partial_search_results": "false"}
"""A part of the index that does not answer is an error, never a shorter list."""

IN_HEADS = ("routing", "preference", "ignore_unavailable", "allow_no_indices", "expand_wildcards", "search_type")
"""Parameters that a search among several has in its head."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where, and what goes with every search there.

    Args:
        index: Names, parted by commas, with wildcards or not; empty for all, and with a point in time.
        point: The point in time as a body holds it, or None.
        params: Of every query string.
        parts: Of every body, such as fields that only exist while it is searched.
    """

    index: str
    point: Mapping[str, Any] | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)

    def search(self, body: Mapping[str, Any], **params: str) -> Ask:
        """Ask for one search."""
        return Ask("POST", self._path("_search"), {**WHOLE, **self.params, **params}, self._whole(body))

    def searches(self, bodies: Sequence[Mapping[str, Any]]) -> Ask:
        """Ask for several at once."""
        head = {name: self.params[name] for name in IN_HEADS if name in self.params}
        lines = [line for body in bodies for line in ({**head, **WHOLE}, self._whole(body))]
        return Ask("POST", self._path("_msearch"), lines=lines)

    def _path(self, action: str) -> str:
        return f"/{in_path(self.index)}/{action}" if self.index else f"/{action}"

    def _whole(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**self.parts, **body, **({"pit": self.point} if self.point else {})}


def in_path(index: str) -> str:
    """Write names so that they may stand in a path.

    >>> in_path("news-*,<logs-{now/d}>")
    'news-*,%3Clogs-%7Bnow%2Fd%7D%3E'
    """
    return quote(index, safe=",*")
