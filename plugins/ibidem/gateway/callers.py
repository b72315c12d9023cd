"""Callers: the headers that carry a caller's rights, and engines opened with them."""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from ibidem_engines.connect import open_for_caller
from ibidem_engines.engine import Engine
from ibidem_workers.settings import Settings

RIGHTS = ("authorization", "es-security-runas-user", "es-secondary-authorization", "securitytenant")
"""Headers by which an engine grants or narrows rights. What a proxy before an engine vouches for is not among them."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller as the engine will know him.

    Args:
        headers: Those of `RIGHTS` that were sent, with their values.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Caller":
        """Read the headers of a request; their names in any case.

        >>> Caller.of({"Authorization": "Basic YWRhOnB3", "cookie": "a=1"}).name
        'ada'
        """
        sent = {name.lower(): value for name, value in headers.items()}
        return cls(tuple((name, sent[name]) for name in RIGHTS if name in sent))

    @property
    def name(self) -> str:
        """The user's name where it was sent with a password; else empty."""
        scheme, _, value = dict(self.headers).get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return ""
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[0]
        except (binascii.Error, UnicodeDecodeError):
            return ""


MOST = 100
"""Callers whose connections are kept."""


class Engines:
    """Engines by index and caller, the most recent ones kept open.

    Args:
        settings: Where the engine is, and how long to wait for it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kept: OrderedDict[tuple[str, Caller], Engine] = OrderedDict()
        self._lock = Lock()

    def of(self, caller: Caller, index: str) -> Engine:
        """Return the engine that knows a caller by his own headers alone; what the address says of a user is left out.

        Args:
            caller: Who asks.
            index: Name of the index, checked before.
        """
        if self._settings.engine.startswith("sqlite:"):
            caller = Caller()
        with self._lock:
            engine = self._kept.pop((index, caller), None)
            if engine is None:
                seconds = float(self._settings.gateway_timeout)
                engine = open_for_caller(self._settings.address, index, caller.headers, seconds)
            self._kept[index, caller] = engine
            if len(self._kept) > MOST:
                # Another thread may be reading with it: its connections are closed when the last one lets go of it.
                self._kept.popitem(last=False)
        return engine

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()
