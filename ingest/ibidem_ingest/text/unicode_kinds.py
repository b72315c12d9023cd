"""Character classes of `tok1`, pinned at Unicode 14.0, since Python versions differ.

The table is in `tok1.tsv`. *Single* characters are those of scripts that write no space between words: Han,
Hiragana, Katakana, Thai, Lao, Khmer, Myanmar (by script, or common to the first three by script extension); each is a
token.
"""

import unicodedata
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

UNASSIGNED, OTHER, MARK, LETTER, LOWER, DIGIT, SINGLE, SINGLE_DIGIT = map(ord, "?-MLlDSs")


@cache
def kinds() -> NDArray[np.uint8]:
    """Return the kind of every code point, read once from the pinned table.

    Returns:
        1,114,112 kinds, read-only; surrogates count as unassigned.
    """
    table = np.full(0x110000, UNASSIGNED, np.uint8)
    for line in resources.files(__package__).joinpath("tok1.tsv").read_text("ascii").splitlines():
        if not line.startswith("#"):
            first, last, kind = line.split("\t")
            table[int(first, 16) : int(last, 16) + 1] = ord(kind)
    table.flags.writeable = False
    return table


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32, copy=False)


def kinds_of(text: str) -> bytes:
    """Return one byte for each character: its kind.

    >>> kinds_of("Año 7, 日本")
    b'Lll-D--SS'
    """
    return kinds().take(code_points(text)).tobytes()


WIDEST = 18
"""Characters that normalising makes of one at most: U+FDFA is a whole sentence."""


def normal_length(text: str) -> int:
    """Count the characters that normalising makes of a text, each taken by itself.

    >>> normal_length("ﬁne")
    4
    """
    return int(_widths().take(code_points(text)).sum(dtype=np.int64))


@cache
def _widths() -> NDArray[np.uint8]:
    widths = np.ones(0x110000, np.uint8)
    for point in range(0x80, 0x110000):
        if not 0xD800 <= point < 0xE000:
            widths[point] = len(unicodedata.normalize("NFKC", chr(point)))
    widths.flags.writeable = False
    return widths


def kind(character: str) -> int:
    """Return the kind of one character."""
    return int(kinds()[ord(character)])
