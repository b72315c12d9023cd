"""The cache of what was read of a cluster: a value is believed until its time is over."""

import time

from ibidem_engines.ttl_cache import TtlCache


def test_a_value_is_believed_until_its_time_is_over() -> None:
    cache = TtlCache[str, bool]()
    assert cache.put("here", value=False) is False
    cache.put("gone", value=True, seconds=0.01)
    time.sleep(0.02)
    assert (cache.get("here"), cache.get("gone"), cache.get("never")) == (False, None, None)


def test_a_cleared_cache_believes_nothing() -> None:
    cache = TtlCache[str, int]()
    cache.put("here", 1)
    cache.clear()
    assert cache.get("here") is None
    assert len(cache) == 0
