"""Library of compiled loops (`kernel.c`), called with numpy arrays.

It was made at installation, where a C compiler was (`hatch_build.py`). It says of which source it was made: a library
of another source is not used.
"""

import ctypes
import secrets
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Octets = NDArray[np.uint8]

SOURCE = Path(__file__).with_name("kernel.c")
LIBRARY = Path(__file__).with_name("kernel.so")


def source_name(source: bytes) -> str:
    """Return the name of a source: its hash.

    >>> source_name(b"int main;")
    'afdfaf11033688a3'
    """
    return blake2b(source, digest_size=8).hexdigest()


class Library:
    """A compiled library."""

    def __init__(self, path: Path = LIBRARY) -> None:
        self._library = ctypes.CDLL(str(path))
        name = self._library.ibidem_source
        name.restype = ctypes.c_char_p
        if name().decode() != source_name(SOURCE.read_bytes()):
            raise OSError(f"{path} was built from another source")
        self._salt = secrets.randbits(64) | 1

    def _call(self, name: str, *values: "Array | bytes | int") -> int:
        """Call a function; arrays and bytes are passed by address, numbers as 64 bits."""
        function = getattr(self._library, name)
        function.restype = ctypes.c_int64
        side_by_side = [np.ascontiguousarray(each) if isinstance(each, np.ndarray) else each for each in values]
        result: int = function(*map(_argument, side_by_side))
        if result == -1:
            raise MemoryError(f"no memory for {name}")
        return result


def address(array: Array) -> int:
    """Return the address of an array in memory."""
    place: int = array.__array_interface__["data"][0]
    return place


def _argument(value: "Array | bytes | int") -> object:
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_void_p(address(value))
