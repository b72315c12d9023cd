"""The request that a client would send is taken before it is sent."""

from collections.abc import Awaitable

import pytest

from ibidem.clients.adapter import CapturedRequest, capture_request

REQUEST = CapturedRequest("/news%2A,olds/_search", {}, {}, None)


class Pause:
    """Something that a client waits for before it sends."""

    def __await__(self):  # type: ignore[no-untyped-def] # a generator that asyncio would drive
        yield self


async def at_once() -> CapturedRequest:
    return REQUEST


async def late(pause: Awaitable[None]) -> CapturedRequest:
    await pause
    return REQUEST


def test_a_request_is_taken_from_a_method_and_from_one_that_is_waited_for() -> None:
    assert capture_request(REQUEST) is REQUEST
    assert capture_request(at_once()) is REQUEST


def test_a_client_that_waits_before_it_sends_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="waited before it sent"):
        capture_request(late(Pause()))  # type: ignore[arg-type] # awaited all the same


def test_the_indexes_of_a_request_are_in_its_path() -> None:
    assert REQUEST.index == "news*,olds"
    assert CapturedRequest("/_search", {}, {}, None).index == ""
