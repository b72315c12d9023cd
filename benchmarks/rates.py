"""Throughput of a server for clients that ask at once."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp

CLIENTS_AT_ONCE = 50
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Rate:
    seconds: float  # duration of the test
    errors: int  # requests without a good answer
    took: Sequence[float]  # milliseconds of each answer

    @property
    def per_second(self) -> float:
        return len(self.took) / self.seconds

    def row(self, name: str) -> str:
        times = sorted(self.took)
        slow_ms = times[int(len(times) * 0.95)]
        return f"| {name} | {self.per_second:.0f} | {statistics.median(times):.0f} | {slow_ms:.0f} | {self.errors} |"


def together(rates: Sequence[Rate]) -> Rate:
    """Put the turns of one kind together."""
    took = [each for rate in rates for each in rate.took]
    return Rate(sum(rate.seconds for rate in rates), sum(rate.errors for rate in rates), took)


async def measure_rate(
    base: str,
    requests: Sequence[tuple[str, bytes]],
    seconds: float,
    clients: int = CLIENTS_AT_ONCE,
    address: str = "127.0.0.1",
) -> Rate:
    """Send requests over some connections for some seconds, each as soon as the last is answered."""
    took: list[float] = []
    errors = 0
    ends = time.monotonic() + seconds

    async def client(number: int, session: aiohttp.ClientSession) -> None:
        nonlocal errors
        turn = number
        while time.monotonic() < ends:
            path, content = requests[turn % len(requests)]
            turn += 1
            began = time.perf_counter()
            async with session.post(f"{base}{path}", data=content, headers=JSON) as answer:
                await answer.read()
                errors += answer.status != 200
            took.append((time.perf_counter() - began) * 1e3)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, local_addr=(address, 0))) as session:
        await asyncio.gather(*[client(number, session) for number in range(clients)])
    return Rate(seconds, errors, took)
