"""Overlap of calls: some run in threads while the next one is prepared; results come in order.

A worker signs the next portion while a server answers for the last one: neither waits for the other.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

Result = TypeVar("Result")

WRITES = 4  # write requests of a process to a cluster at the same time, each with a part of a batch


def overlap(calls: Iterable[Callable[[], Result]], limit: int) -> Iterator[Result]:
    """Run calls, up to `limit` at once, and yield their results in order.

    `calls` is iterated in this thread, at most so many calls ahead. When a call raises, the calls under way end, no
    further one begins, and the error is raised here.

    >>> list(overlap((lambda number=number: number * 2 for number in range(5)), 3))
    [0, 2, 4, 6, 8]
    """
    if limit == 1:
        yield from (call() for call in calls)
        return
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(limit) as threads:
        try:
            for call in calls:
                if len(under_way) == limit:
                    yield under_way.popleft().result()
                under_way.append(threads.submit(copy_context().run, call))
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
