"""Throttle: bounds the write requests under way, fewer at once after each that found the server busy, more again later.

Additive increase, multiplicative decrease (Chiu and Jain, 1989, Computer Networks 17).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 64.0
"""Requests at once from which none is held back; more threads than that no process has."""


class Throttle:
    """Bounds the write requests of a process that are under way at the same time.

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
        self.limit, self.rejections = MOST, 0
        self._under_way = 0
        self._condition = threading.Condition()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait until one more request may be sent, and count it while the block sends it."""
        with self._condition:
            self._condition.wait_for(lambda: self._under_way + 1 <= self.limit)
            self._under_way += 1
            rejections = self.rejections
        try:
            yield
            with self._condition:
                if self.rejections == rejections:
                    self.limit = min(MOST, self.limit + 1 / self.limit)
        finally:
            with self._condition:
                self._under_way -= 1
                self._condition.notify_all()

    def reject(self) -> None:
        """Note that the server was busy: from now on half as many requests are sent at once, and at least one."""
        with self._condition:
            self.rejections += 1
            self.limit = max(1.0, self._under_way // 2)
