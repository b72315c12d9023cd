"""Stretches of one buffer, copied side by side."""

import numpy as np
from numpy.typing import NDArray

Octets = NDArray[np.uint8]
Places = NDArray[np.int64]


def side_by_side(buffer: bytes, starts: Places, sizes: Places) -> Octets:
    """Copy stretches of a buffer side by side.

    Args:
        buffer: Any bytes.
        starts: Where each stretch begins.
        sizes: How many bytes it has, at least one.

    >>> side_by_side(b"res ipsa loquitur", np.array([9, 0]), np.array([4, 3])).tobytes()
    b'loqures'
    """
    steps = np.ones(sizes.sum(), np.int64)
    begins = sizes.cumsum() - sizes
    steps[begins] = starts
    steps[begins[1:]] -= starts[:-1] + sizes[:-1] - 1
    return np.frombuffer(buffer, np.uint8).take(steps.cumsum())
