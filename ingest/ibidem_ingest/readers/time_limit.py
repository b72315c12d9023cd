"""Time limit: the longest time without a document while a file of many documents is read.

A small file may unpack into gigabytes of blank lines, or hold thousands of mails without text.
"""

import time

from ibidem_ingest.errors import Unreadable


class TimeLimit:
    """Time since the last document: processor time of this thread, and of the processes that parse parts of the file.

    Waiting for a pipe or a slow disk does not count.

    >>> limit = TimeLimit(60)
    >>> limit.note(59, found=False)
    >>> limit.check()
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._restart()

    def restart(self) -> None:
        """Restart the count at the next check, after a document was read; reading the clock now would take too long."""
        self._found = True

    def _restart(self) -> None:
        self._began, self._elsewhere, self._found = time.thread_time(), 0.0, False

    def note(self, seconds: float, *, found: bool) -> None:
        """Add the time that another process took for a part of the file; thread-safe."""
        self._elsewhere += seconds
        self._found = self._found or found

    def check(self) -> None:
        """Raise if the time limit is exceeded; only for the thread that reads the file."""
        if self._found:
            self._restart()
        if time.thread_time() - self._began + self._elsewhere > self._seconds:
            raise Unreadable(
                f"{self._seconds:g} seconds of reading gave no document; correct the file, or raise IBIDEM_READ_SECONDS"
            )
