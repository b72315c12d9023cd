"""A heart: a thread that shows a sign of life again and again, for as long as its process lives."""

import threading
from collections.abc import Callable

BEATS = 6
"""Signs of life in the time after which a lease without any has lapsed."""


class Heart:
    """Beats until it is stopped.

    Args:
        beat: Shows a sign of life; returns whether to go on.
        seconds: After how many seconds without a sign of life a lease lapses.
    """

    def __init__(self, beat: Callable[[], bool], seconds: float) -> None:
        self._beat, self._pause = beat, seconds / BEATS
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="heart")
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(self._pause) and self._beat():
            pass

    def stop(self) -> None:
        """Beat no more; a beat that has begun is waited for."""
        self._stopped.set()
        self._thread.join()
