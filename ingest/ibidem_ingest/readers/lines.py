"""Lines of a stream, none of which ever takes more memory than a limit."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import io

HEAD = 4_096
_PIECE = 1 << 16


def lines(stream: "io.BufferedReader[Any]", limit: int) -> Iterator[tuple[bytes, bool]]:
    """Cut a stream into lines; of one that is over the limit, only the head is handed out and the rest is skipped.

    Args:
        stream: The bytes.
        limit: The most bytes that a line may have, its line break included.

    Yields:
        The line and whether it is whole.
    """
    while line := stream.readline(limit + 1):
        if len(line) <= limit:
            yield line, True
        else:
            yield line[:HEAD], False
            while line and not line.endswith(b"\n"):
                line = stream.readline(_PIECE)
