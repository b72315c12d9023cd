"""Time limit: how long a file of many documents is read without finding one.

A small file may unpack into gigabytes of blank lines, or hold thousands of mails without text.
"""

import time

from ibidem_ingest.errors import Unreadable


class TimeLimit:
    """Time since the last document: of this thread's processor, and of the processes that read parts of the file.

    Waiting for a pipe or a slow disk does not count.

    Args:
        seconds: How much of it may pass.

    >>> limit = TimeLimit(60)
    >>> limit.note(59, found=False)
    >>> limit.check()
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._restart()

    def restart(self) -> None:
        """Begin to count again with the next check: a document was read. Reading the clock takes as long as a line."""
        self._found = True

    def _restart(self) -> None:
        self._began, self._elsewhere, self._found = time.thread_time(), 0.0, False

    def note(self, seconds: float, *, found: bool) -> None:
        """Note the time that another process took for a part of the file; any thread may.

        Args:
            seconds: The time.
            found: Whether the part was a document.
        """
        self._elsewhere += seconds
        self._found = self._found or found

    def check(self) -> None:
        """Check that the time has not passed; only the thread that reads the file may.

        Raises:
            Unreadable: It has.
        """
        if self._found:
            self._restart()
        if time.thread_time() - self._began + self._elsewhere > self._seconds:
            raise Unreadable(
                f"{self._seconds:g} seconds of reading gave no document; correct what it holds, or raise "
                "IBIDEM_READ_SECONDS"
            )
