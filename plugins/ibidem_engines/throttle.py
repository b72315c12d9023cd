"""Throttle: bounds concurrent write requests; each rejection halves the bound, which then grows again.

Additive increase, multiplicative decrease (Chiu and Jain, 1989, Computer Networks 17).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_REQUESTS = 64.0  # requests at once from which none is held back; more threads than that no process has


class Throttle:
    """Bounds the concurrent write requests of a process.

    `rejections` counts requests that a busy server rejected.

    >>> throttle = Throttle()
    >>> with throttle(), throttle():
    ...     throttle.reject()
    >>> throttle.limit, throttle.rejections
    (1.0, 1)
    >>> with throttle():
    ...     pass
    >>> throttle.limit
    2.0
    """

    def __init__(self) -> None:
        self.limit, self.rejections = MAX_REQUESTS, 0
        self._under_way = 0
        self._condition = threading.Condition()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait for a free slot, and hold it while the block sends a request."""
        with self._condition:
            self._condition.wait_for(lambda: self._under_way + 1 <= self.limit)
            self._under_way += 1
            rejections = self.rejections
        try:
            yield
            with self._condition:
                if self.rejections == rejections:
                    self.limit = min(MAX_REQUESTS, self.limit + 1 / self.limit)
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify_all()

    def reject(self) -> None:
        """Record a rejection: the bound is halved, but at least one."""
        with self._condition:
            self.rejections += 1
            self.limit = max(1.0, self._under_way // 2)
