"""A benchmark from its options to its page: what all of them share."""

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from measured import ROOT, write

sys.path.insert(0, str(ROOT / "tests"))

if TYPE_CHECKING:
    from servers.session import Servers

SERVERS = ("opensearch", "elasticsearch")


def options(doc: str | None, **defaults: object) -> argparse.ArgumentParser:
    """Return a parser with the folder of the labelled collections and the options of a benchmark."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"), help="folder of the collections")
    for name, default in defaults.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, type):
            parser.add_argument(flag, type=default)
        elif isinstance(default, tuple):
            parser.add_argument(flag, choices=default, default=default[0])
        else:
            parser.add_argument(flag, type=type(default), default=default)
    return parser


def introduction(doc: str | None, start: str) -> list[str]:
    """Return a docstring from some words on, and an empty line."""
    return ["".join((doc or "").partition(start)[1:]).strip(), ""]


def publish(name: str, title: str, lines: Iterable[str], head: Sequence[str] = (), *, keep: bool = True) -> None:
    """Print figures as they come, and write their page."""
    page = [*head, *show(lines)]
    if keep:
        write(name, title, page)


def show(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        print(line, flush=True)
        yield line


@contextmanager
def run_servers(*kinds: str) -> Iterator["Servers"]:
    """Yield servers that tests use, each from the environment or started when it is asked for."""
    from servers.session import Servers  # noqa: PLC0415 - most benchmarks need no server

    servers = Servers(kinds)
    try:
        yield servers
    finally:
        servers.stop()


def in_turn(works: Sequence[Callable[[], object]], rounds: int, clock: Callable[[], float]) -> list[list[float]]:
    """Do works in turn, in the other order every other time; a first turn is not counted."""
    seconds: list[list[float]] = [[] for _ in works]
    for turn in range(rounds + 1):
        for at in range(len(works))[:: 1 if turn % 2 else -1]:
            begin = clock()
            works[at]()
            seconds[at] += [clock() - begin] if turn else []
    return seconds


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the power of the size with which a cost grows, from its first to its last value.

    >>> exponent([10, 100], [2, 200])
    2.0
    """
    return math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])


def draw_lots(seed: float | str) -> random.Random:
    return random.Random(seed)  # noqa: S311 - made-up data keeps no secret
