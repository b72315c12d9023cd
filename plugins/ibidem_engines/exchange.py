"""Speaking with a server without holding the connection: what is to be asked is yielded, the answer is sent in.

So one piece of code serves the engines, clients of others, waiting or not, and the gateway.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request.

    Args:
        method: Of HTTP.
        path: With a leading slash, ready for a URL.
        params: Of the query string.
        body: What is sent as JSON; None for nothing.
        lines: What is sent as one JSON value a line instead.
        passed_over: Statuses that are no failure; the answer is then an empty object.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    lines: Sequence[Mapping[str, Any]] | None = None
    passed_over: tuple[int, ...] = ()


Exchange = Generator[Ask, Any, T]
"""Requests one after the other, each answered with its JSON, and what comes of them."""


def answer_to(ask: Ask) -> Exchange[Any]:
    """Ask one thing and no more."""
    return (yield ask)


def at_once(exchange: Exchange[T]) -> T:
    """Run an exchange that asks for nothing, since what it stands on answers by itself."""
    return hold(exchange, _unasked)


def _unasked(ask: Ask) -> Any:
    raise RuntimeError(f"nobody answers {ask.method} {ask.path}")


def hold(exchange: Exchange[T], send: Callable[[Ask], Any]) -> T:
    """Send every request of an exchange, and return what comes of it.

    Args:
        exchange: What is to be asked.
        send: Sends one request and returns the answer's JSON.

    >>> def told():
    ...     answer = yield Ask("GET", "/")
    ...     return answer["name"]
    >>> hold(told(), lambda ask: {"name": f"{ask.method} {ask.path}"})
    'GET /'
    """
    try:
        ask = next(exchange)
        while True:
            ask = exchange.send(send(ask))
    except StopIteration as done:
        result: T = done.value
        return result


async def hold_waiting(exchange: Exchange[T], send: Callable[[Ask], Awaitable[Any]]) -> T:
    """Do as `hold` does, where other work goes on while an answer is waited for."""
    try:
        ask = next(exchange)
        while True:
            ask = exchange.send(await send(ask))
    except StopIteration as done:
        result: T = done.value
        return result
