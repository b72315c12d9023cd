"""Pool of sandboxed readers: several files are parsed at once, and their documents come in the order of the files."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Self, TypeVar

from ibidem_ingest.readers.sandbox import SECONDS, SandboxedReader

AHEAD = 4
"""Results for each process that may wait for an earlier one: more would only take memory."""

T = TypeVar("T")
Parse = Callable[[SandboxedReader], T]
"""Reads one file by the process that it is given."""


@dataclass(eq=False, slots=True)
class SandboxPool:
    """Processes that read files, as a context; each starts with its first file.

    Args:
        max_text: The most characters that a text may have.
        seconds: What reading one file may take.
        processes: How many files are read at once.
    """

    max_text: int
    seconds: float = SECONDS
    processes: int = 1
    _free: SimpleQueue[SandboxedReader] = field(default_factory=SimpleQueue, init=False)
    _readers: list[SandboxedReader] = field(default_factory=list, init=False)
    _threads: ThreadPoolExecutor | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        """Start nothing yet."""
        self._threads = ThreadPoolExecutor(self.processes, thread_name_prefix="reader")
        self._readers = [SandboxedReader(self.max_text, self.seconds) for _ in range(self.processes)]
        for reader in self._readers:
            self._free.put(reader)
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes; a file that one of them has in hand is left."""
        with ExitStack() as ends:
            for reader in self._readers:
                ends.enter_context(reader)
            if self._threads is not None:
                self._threads.shutdown(wait=False, cancel_futures=True)
                for reader in self._readers:
                    reader.kill()
                self._threads.shutdown()

    def in_order(self, items: Iterable[T | Parse[T]]) -> Iterator[T]:
        """Yield what is read, in the order in which it was found.

        Args:
            items: What is there already, and what reads the rest.
        """
        waiting: deque[T | Future[T]] = deque()
        for one in items:
            waiting.append(self._submitted(one) if callable(one) else one)
            while waiting and (len(waiting) >= AHEAD * self.processes or _is_ready(waiting[0])):
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())

    def _submitted(self, parse: Parse[T]) -> Future[T]:
        if self._threads is None:
            raise RuntimeError("a pool of readers is a context: with SandboxPool(…) as pool")
        return self._threads.submit(self._parsed, parse)

    def _parsed(self, parse: Parse[T]) -> T:
        reader = self._free.get()
        try:
            return parse(reader)
        finally:
            self._free.put(reader)


def _is_ready(one: object) -> bool:
    return not isinstance(one, Future) or one.done()


def _result(one: T | Future[T]) -> T:
    return one.result() if isinstance(one, Future) else one
