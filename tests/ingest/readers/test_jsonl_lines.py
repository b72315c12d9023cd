"""No line takes more memory than the limit, and no neighbour of a longer line is lost."""

import io

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.readers.jsonl import HEAD, Line, lines
from ibidem_ingest.readers.time_limit import TimeLimit

LINE = st.one_of(st.binary(max_size=30), st.text(" \t\r", max_size=3).map(str.encode)).map(
    lambda line: line.replace(b"\n", b" ")
)


@given(st.lists(LINE), st.integers(1, 40), st.booleans())
def test_every_line_is_handed_out_once_whole_or_as_its_head(
    lines_of_file: list[bytes], limit: int, has_end: bool
) -> None:
    data = b"\n".join(lines_of_file) + (b"\n" if has_end else b"")
    parts = data.split(b"\n")
    expected = [line + b"\n" for line in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    stream = io.BufferedReader(io.BytesIO(data))
    blank = {number for number, line in enumerate(expected, 1) if line.isspace()}
    read = [line for line in lines(stream, limit, TimeLimit(60)) if line.number not in blank]
    numbered_runs = [(number, line) for number, line in enumerate(expected, 1) if number not in blank]
    assert [(line.number, line.is_whole) for line in read] == [
        (number, len(line) <= limit) for number, line in numbered_runs
    ]
    assert [line.content for line in read if line.is_whole] == [line for _, line in numbered_runs if len(line) <= limit]


def test_of_a_line_over_the_limit_only_the_head_is_kept() -> None:
    stream = io.BufferedReader(io.BytesIO(b"x" * 1_000_000 + b"\nnext\n"))
    assert list(lines(stream, 10_000, TimeLimit(60))) == [Line(1, b"x" * HEAD, False), Line(2, b"next\n", True)]
