"""Concurrency limits: how many requests are processed at the same time, in total and per address."""

from collections import Counter

from ibidem.gateway.errors import HttpError


class Places:
    """The places for requests of one kind; one address may occupy three quarters of them.

    >>> places = Places(4)
    >>> for address in ("10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"):
    ...     places.take(address)
    >>> places.taken
    4
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._address_limit = max(1, limit * 3 // 4)
        self._held: Counter[str] = Counter()
        self.taken = 0

    def take(self, address: str) -> None:
        """Acquire a place."""
        if self._held[address] >= self._address_limit:
            raise too_many_requests(f"{self._held[address]} requests of one address are being answered")
        if self.taken >= self._limit:
            raise too_many_requests(f"{self.taken} requests are being answered")
        self._held[address] += 1
        self.taken += 1

    def release(self, address: str) -> None:
        """Release a place."""
        self.taken -= 1
        self._held[address] -= 1
        if not self._held[address]:
            del self._held[address]


def too_many_requests(reason: str) -> HttpError:
    """Return the error of a request above the concurrency limit."""
    return HttpError(
        429, "rejected_execution_exception", reason, "try again in a second; IBIDEM_GATEWAY_CLIENTS allows more"
    )
