"""How long each stage of one piece of work takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stages:
    """Adds up the time of each stage.

    >>> stages = Stages()
    >>> with stages("read"):
    ...     pass
    >>> list(stages.ms())
    ['read_ms', 'all_ms']
    """

    def __init__(self) -> None:
        self._began = perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count the time of a block to a stage."""
        began = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - began

    def ms(self) -> dict[str, float]:
        """Return the milliseconds of each stage, and of all since the start, as a log shows them."""
        all_of_it = perf_counter() - self._began
        return {f"{name}_ms": round(1e3 * each, 1) for name, each in (self._seconds | {"all": all_of_it}).items()}
