"""No line takes more memory than the limit, and no neighbour of a longer line is lost."""

import io

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.readers.jsonl import HEAD, lines

LINE = st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" "))


@given(st.lists(LINE), st.integers(1, 40), st.booleans())
def test_every_line_is_handed_out_once_whole_or_as_its_head(
    lines_of_file: list[bytes], limit: int, has_end: bool
) -> None:
    data = b"\n".join(lines_of_file) + (b"\n" if has_end else b"")
    parts = data.split(b"\n")
    expected = [line + b"\n" for line in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    read = list(lines(io.BufferedReader(io.BytesIO(data)), limit))
    assert [is_whole for _, is_whole in read] == [len(line) <= limit for line in expected]
    assert [line for line, is_whole in read if is_whole] == [line for line in expected if len(line) <= limit]


def test_of_a_line_over_the_limit_only_the_head_is_kept() -> None:
    stream = io.BufferedReader(io.BytesIO(b"x" * 1_000_000 + b"\nnext\n"))
    assert list(lines(stream, 10_000)) == [(b"x" * HEAD, False), (b"next\n", True)]
