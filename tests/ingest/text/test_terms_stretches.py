"""Stretches of a buffer are copied side by side."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.text.terms import gather_slices

BUFFER = bytes(range(100))


@given(st.lists(st.tuples(st.integers(0, 79), st.integers(1, 20))))
def test_each_stretch_follows_the_one_before(stretches: list[tuple[int, int]]) -> None:
    starts, sizes = (np.array([each[part] for each in stretches], np.int64) for part in (0, 1))
    assert gather_slices(BUFFER, starts, sizes).tobytes() == b"".join(BUFFER[at : at + size] for at, size in stretches)
