"""A search engine with a seemingly full disk: its watermarks are set above the free space."""

import time

from servers.indices import ask

WATERMARKS = "cluster.routing.allocation.disk"
PATIENCE_S = 300.0
LOOKS_EVERY = "10s"  # how often the server looks at its disk; the shortest that it takes


class Flood:
    """The disk of a server of one's own: full, and free again."""

    def __init__(self, address: str, index: str) -> None:
        self._address, self._index = address, index

    def kill(self) -> None:
        """Fill the disk, and wait until the server has closed the index."""
        self._set("100000gb", enabled=True)
        self._wait(closed=True)

    def start_again(self) -> None:
        """Make room, and wait until the server has opened the index again."""
        self._set("1mb", enabled=True)
        self._wait(closed=False)
        self._set(None, enabled=None)

    def _set(self, free: str | None, *, enabled: bool | None) -> None:
        settings = {f"{WATERMARKS}.watermark.{name}": free for name in ("low", "high", "flood_stage")}
        looks = {
            f"{WATERMARKS}.threshold_enabled": enabled,
            f"{WATERMARKS}.reroute_interval": enabled and "1s",
            "cluster.info.update.interval": enabled and LOOKS_EVERY,
        }
        ask(self._address, "PUT", "/_cluster/settings", {"transient": settings | looks})

    def _wait(self, *, closed: bool) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self._closed() is not closed:
            if time.monotonic() > deadline:
                raise TimeoutError(f"index {self._index} did not become {'closed' if closed else 'open'} to writing")
            time.sleep(0.2)

    def _closed(self) -> bool:
        (index,) = ask(self._address, "GET", f"/{self._index}/_settings?flat_settings=true").values()
        blocks = ask(self._address, "GET", "/_cluster/state/blocks")["blocks"]
        return index["settings"].get("index.blocks.read_only_allow_delete") == "true" or "global" in blocks
