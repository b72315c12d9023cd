"""Inputs made of real ones: cut, repeated, put together, with bytes and words changed."""

from collections.abc import Sequence

from hypothesis import strategies as st

from fuzz.target import Target

FAR = 1 << 16


def mutated(target: Target) -> st.SearchStrategy[bytes]:
    """Draw an input for a target: one of its examples after some edits, or bytes of any kind."""
    words = st.sampled_from([*target.words, b"\0", b"\n", b"\xff", b'"']) | st.binary(max_size=8)
    edits = st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, FAR), st.integers(0, FAR), words), max_size=6)
    return st.builds(edited, st.sampled_from(target.examples), edits) | st.binary(max_size=64)


def edited(data: bytes, edits: Sequence[tuple[str, int, int, bytes]]) -> bytes:
    """Change an input."""
    for edit, first, second, word in edits:
        begin, end = sorted((first % (len(data) + 1), second % (len(data) + 1)))
        data = {
            "put": data[:begin] + word + data[begin:],
            "overwrite": data[:begin] + word + data[begin + len(word) :],
            "cut": data[:begin] + data[end:],
            "end": data[:end],
            "repeat": data[:end] + data[begin:end] * 3 + data[end:],
            "swap": data[end:] + data[:begin] + data[begin:end],
        }[edit]
    return data


EDITS = ("put", "overwrite", "cut", "end", "repeat", "swap")
