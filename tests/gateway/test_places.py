"""One address never holds all places."""

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway.errors import HttpError
from ibidem.gateway.places import Places

ADDRESSES = ("a", "b", "c")


@given(st.integers(1, 12), st.lists(st.tuples(st.sampled_from(ADDRESSES), st.booleans())))
def test_places_never_exceed_the_limit_and_one_address_leaves_some_to_others(
    limit: int, requests: list[tuple[str, bool]]
) -> None:
    places, held = Places(limit), Counter[str]()
    for address, takes in requests:
        if takes:
            with suppress(HttpError):
                places.take(address)
                held[address] += 1
        elif held[address]:
            places.release(address)
            held[address] -= 1
        assert places.taken == held.total() <= limit
        assert limit == 1 or max(held.values(), default=0) < limit


def test_an_address_that_has_its_share_is_refused_and_another_is_not() -> None:
    places = Places(4)
    for _ in range(3):
        places.take("a")
    with pytest.raises(HttpError, match="3 requests of one address"):
        places.take("a")
    places.take("b")
    with pytest.raises(HttpError, match="4 requests are being answered"):
        places.take("c")
