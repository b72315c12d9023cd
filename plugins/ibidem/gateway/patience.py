"""Timeout of a request, extended by the time that it asks the engine to wait."""

import re
from collections.abc import Mapping
from time import monotonic
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import Scope

KEY: Final = "ibidem.patience"  # where the server's own description of a request holds it

MAX_WAIT_S = 3_600.0  # longest wait of the engine that is waited for

# Parameters of a search, or of a document, that tell the engine how long to wait or to keep what it found.
WAITS = ("timeout", "scroll")

_TIME = re.compile(r"(?P<count>[0-9]{1,15})(?P<unit>nanos|micros|ms|s|m|h|d)")
_SECONDS: Mapping[str, float] = {
    "nanos": 1e-9,
    "micros": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3_600.0,
    "d": 86_400.0,
}


class Patience:
    """Time until a request times out."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._began = monotonic()

    @property
    def remaining(self) -> float:
        """Remaining seconds."""
        return max(0.0, self._began + self.seconds - monotonic())

    def extend(self, seconds: float) -> None:
        """Add the time that the engine was asked to wait."""
        self.seconds += seconds


def extend(scope: Scope, parameters: Mapping[str, object]) -> None:
    """Extend a request's timeout by the longest wait among its parameters."""
    patience = scope.get(KEY)
    if isinstance(patience, Patience):
        patience.extend(max(parse_time(parameters.get(name)) for name in WAITS))


def query_parameters(scope: Scope) -> dict[str, object]:
    """Return the parameters of a query string."""
    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))


def parse_time(text: object) -> float:
    """Return the seconds of a time value of the engines, up to `MAX_WAIT_S`; 0 if it is invalid.

    >>> parse_time("1m"), parse_time("500ms"), parse_time("2d"), parse_time(30), parse_time("-1")
    (60.0, 0.5, 3600.0, 0.0, 0.0)
    """
    match = _TIME.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    return min(MAX_WAIT_S, int(match["count"]) * _SECONDS[match["unit"]]) if match else 0.0
