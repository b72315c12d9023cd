"""The engines of callers: each caller reads and writes with the rights of his own, never with the gateway's."""

from collections import OrderedDict
from threading import Lock

from ibidem.gateway.callers import Caller
from ibidem_engines.engine import Engine
from ibidem_engines.opening import open_for_caller
from ibidem_workers.settings import Settings

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
