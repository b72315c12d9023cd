"""A packed body that is streamed may not unpack to far more than it is."""

import asyncio
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway.errors import HttpError
from ibidem.gateway.expansion import MAX_RATIO, Expansion

ALLOWED = 1_000


def count(body: bytes, size: int = 65_536, encoding: str = "gzip") -> int:
    """Count a body that comes in parts; returns how many of its bytes were passed on."""
    expansion, passed = Expansion(encoding, ALLOWED), 0

    async def count_all() -> None:
        nonlocal passed
        for at in range(0, len(body), size):
            await expansion.count(body[at : at + size])
            passed += len(body[at : at + size])

    asyncio.run(count_all())
    return passed


def packed_zeros(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)) + packer.flush()


@given(st.binary(max_size=3_000), st.integers(1, 100))
def test_what_unpacks_to_no_more_than_it_may_is_passed_on_whole(content: bytes, size: int) -> None:
    body = gzip.compress(content)
    if len(content) <= ALLOWED:
        assert count(body, size) == len(body)
    assert count(content, size, "") == len(content)


@given(st.integers(1, 5), st.integers(1, 2_000))
def test_whatever_the_parts_and_members_never_more_than_the_ratio_is_passed_on(members: int, size: int) -> None:
    body = gzip.compress(bytes(ALLOWED + 200)) * members
    unpacked = members * (ALLOWED + 200)
    if unpacked > max(ALLOWED, MAX_RATIO * len(body)):
        with pytest.raises(HttpError) as caught:
            count(body, size)
        assert caught.value.status == 413


@pytest.mark.parametrize("parts", [1, 1_000, 65_536])
def test_a_bomb_is_refused_before_it_is_passed_on(parts: int) -> None:
    with pytest.raises(HttpError, match="decompresses to more than 100 times"):
        count(packed_zeros(50_000_000), parts)


@pytest.mark.parametrize(("body", "encoding", "status"), [(b"no gzip", "gzip", 400), (b"", "br", 415)])
def test_what_cannot_be_counted_is_refused(body: bytes, encoding: str, status: int) -> None:
    with pytest.raises(HttpError) as caught:
        count(body, encoding=encoding)
    assert caught.value.status == status
