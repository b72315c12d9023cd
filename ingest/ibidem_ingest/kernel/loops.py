"""The compiled loops (`kernel.c`) and how they are called with arrays of numpy.

The library was made at installation, where a C compiler was (`hatch_build.py`), and is loaded when this module is. It
says of which source it was made: a library of another source is not used. `IN_USE` is None if none fits; then each
document is signed, and each pair decided on, by itself in plain Python, which is the definition of what the loops
compute and takes about a hundred times as long.
"""

import ctypes
import secrets
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Argument = Array | bytes | int
Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Octets = NDArray[np.uint8]

SOURCE = Path(__file__).with_name("kernel.c")
LIBRARY = Path(__file__).with_name("kernel.so")


MAX_NUMBER_BYTES = 22  # bytes of a count, with the space before and the newline behind it

SALT = secrets.randbits(64) | 1  # of hash tables, so that no text can be built for one


def load(path: Path = LIBRARY) -> ctypes.CDLL | None:
    """Load a library of the loops; None if it is missing, or was built from another source."""
    try:
        library, source = ctypes.CDLL(str(path)), blake2b(SOURCE.read_bytes(), digest_size=8).hexdigest()
        library.ibidem_source.restype = ctypes.c_char_p
        return library if library.ibidem_source().decode() == source else None
    except (OSError, AttributeError):
        return None


IN_USE: Final = load()


def call(name: str, *values: Argument) -> int:
    """Call a loop; arrays and bytes are passed by address, numbers as 64 bits."""
    if IN_USE is None:
        raise RuntimeError("batches are signed, and columns compared, by compiled loops only")
    function = getattr(IN_USE, name)
    function.restype = ctypes.c_int64
    side_by_side = [np.ascontiguousarray(each) if isinstance(each, np.ndarray) else each for each in values]
    result: int = function(*map(_argument, side_by_side))
    if result == -1:
        raise MemoryError(f"no memory for {name}")
    return result


def lines(name: str, room: int, documents: int, values: Sequence[Argument], *further: Array) -> list[bytes]:
    """Call a loop that writes a line for each document into a buffer; a byte ends each, none an empty one."""
    text, bounds = np.empty(room, np.uint8), np.empty(documents + 1, np.int64)
    call(name, *values, text, bounds, *further)
    data, limits = text[: bounds[-1]].tobytes(), bounds.tolist()
    return [data[start : end - 1] if end > start else b"" for start, end in pairwise(limits)]


def check(size: int, *rows: Array) -> None:
    """Check that a loop stays within its arrays."""
    for part in rows:
        if part.size and int(part.view(f"u{part.itemsize}").max()) >= size:  # a negative one becomes a large one
            raise IndexError(f"rows have to be 0 to {size - 1}, not {part.min()} to {part.max()}")


def address(array: Array) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def _argument(value: Argument) -> object:
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_void_p(address(value))
