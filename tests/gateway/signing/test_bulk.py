"""A body that arrives bit by bit is cut into the lines that it has, however it was cut on its way."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway.errors import HttpError
from ibidem.gateway.signing import bulk as module
from ibidem.gateway.signing.bulk import Action, ActionReader, Line, decompress, lines


async def stream(parts: Sequence[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def cut(content: bytes, sizes: Sequence[int]) -> list[bytes]:
    parts, at = [], 0
    for size in sizes:
        parts.append(content[at : at + size])
        at += size
    return [*parts, content[at:]]


def read(parts: Sequence[bytes]) -> list[Line]:
    async def read_all_parts() -> list[Line]:
        return [line async for batch in lines(stream(parts)) for line in batch]

    return asyncio.run(read_all_parts())


BODIES = st.lists(st.binary(max_size=30), max_size=12).map(b"\n".join)
SIZES = st.lists(st.integers(0, 12), max_size=12)


@given(BODIES, SIZES)
def test_lines_are_the_same_however_a_body_was_cut(content: bytes, sizes: list[int]) -> None:
    result = read(cut(content, sizes))
    assert b"".join(each.content for each in result) == content
    assert [each.content for each in result] == content.splitlines(keepends=True) if b"\r" not in content else True
    assert result == read([content])


@given(BODIES, SIZES)
def test_gzip_is_undone_however_it_was_cut_also_of_two_members(content: bytes, sizes: list[int]) -> None:
    async def read_all_parts(parts: Sequence[bytes]) -> bytes:
        return b"".join([part async for part in decompress(stream(parts))])

    packed = gzip.compress(content) + gzip.compress(b"end\n")
    assert asyncio.run(read_all_parts(cut(packed, sizes))) == content + b"end\n"


@pytest.mark.parametrize("content", [b"nosuch", gzip.compress(b"a" * 1_000, mtime=0)[:-4]])
def test_a_damaged_or_broken_off_gzip_is_refused(content: bytes) -> None:
    async def read_all_parts() -> None:
        async for _ in decompress(stream([content])):
            pass

    with pytest.raises(HttpError, match="gzip"):
        asyncio.run(read_all_parts())


def test_a_line_that_is_too_long_goes_on_in_pieces_and_the_next_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 50)
    long_line = b'{"text":"' + b"a" * 300 + b'"}\n'
    body = b'{"index":{"_id":"1"}}\n' + long_line + b'{"index":{"_id":"2"}}\n{"text":"b"}\n'
    result = read(cut(body, [40] * 20))
    assert b"".join(each.content for each in result) == body
    reader = ActionReader()
    actions = [each for line in result for each in reader.take(line)] + list(reader.finish())
    assert b"".join(each.head + each.body for each in actions) == body
    assert [(each.operation, each.body) for each in actions if each.operation] == [
        ("index", b""),
        ("index", b'{"text":"b"}\n'),
    ]


@given(st.lists(st.sampled_from([b'{"index":{}}\n', b'{"delete":{"_id":"1"}}\n', b'{"a":1}\n', b"\n", b"[]\n", b"{"])))
def test_no_byte_of_any_body_is_lost_or_moved(parts: list[bytes]) -> None:
    reader = ActionReader()
    parts_read = [each for line in read([b"".join(parts)]) for each in reader.take(line)]
    parts_read += reader.finish()
    assert b"".join(each.head + each.body for each in parts_read) == b"".join(parts)


def test_what_is_behind_a_line_that_is_no_action_is_not_looked_into() -> None:
    reader = ActionReader()
    body = b'{"index":{}}\n{"a":1}\nnosuch\n{"index":{}}\n{"a":1}\n'
    parts_read = [each for line in read([body]) for each in reader.take(line)]
    assert [each.operation for each in parts_read] == ["index", "", "", ""]
    assert parts_read[0] == Action(b'{"index":{}}\n', "index", {}, b'{"a":1}\n')
