"""A wait that the engine was asked for is waited for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway.patience import MAX_WAIT_S, parse_time
from ibidem_core.settings import Settings
from servers.fake_server import Answer, Request, between
from support.gateway_server import run_gateway

TOOK_S = 2.5


def answer_late(_: Request) -> Answer:
    time.sleep(TOOK_S)
    return Answer(200, {"hits": {"hits": []}})


@contextmanager
def hasty_gateway(**changes: object) -> Iterator[str]:
    """A gateway that gives up after a second, before an engine that takes longer."""
    with (
        between(plan=answer_late) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"), gateway_timeout=1, **changes)) as url,  # type: ignore[arg-type]
    ):
        yield url


@pytest.mark.slow
def test_a_search_that_names_a_timeout_is_waited_for_that_much_longer() -> None:
    with hasty_gateway() as url, httpx2.Client(timeout=60) as client:
        assert client.get(f"{url}/ibidem/_search?timeout=30s").status_code == 200
        assert client.post(f"{url}/ibidem/_search", json={"timeout": "1m"}).status_code == 200
        answer = client.post(f"{url}/ibidem/_search", json={"timeout": "1ms"})
        assert answer.status_code == 504
        assert "no answer within 1.001 seconds" in answer.json()["error"]["reason"]


@pytest.mark.slow
def test_a_write_of_a_restricted_gateway_that_names_a_timeout_is_waited_for() -> None:
    with hasty_gateway(gateway_paths="all") as url, httpx2.Client(timeout=60) as client:
        assert client.put(f"{url}/ibidem/_doc/1?timeout=30s", json={}).status_code == 200
        assert client.put(f"{url}/ibidem/_doc/1", json={}).status_code == 504


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/_cluster/health?wait_for_status=green&timeout=30s"),
        ("POST", "/_reindex"),
        ("POST", "/a/_async_search?wait_for_completion_timeout=30s"),
        ("POST", "/_search/scroll"),
    ],
)
def test_what_is_passed_on_is_waited_for_as_long_as_the_client_waits(method: str, path: str) -> None:
    with hasty_gateway(gateway_paths="all", gateway_indexes="*") as url:
        assert httpx2.request(method, f"{url}{path}", timeout=60).status_code == 200


@given(st.integers(0, 10**15 - 1), st.sampled_from(["nanos", "micros", "ms", "s", "m", "h", "d"]))
def test_a_time_of_the_engines_is_never_longer_than_the_longest_wait(count: int, unit: str) -> None:
    assert 0 <= parse_time(f"{count}{unit}") <= MAX_WAIT_S


@pytest.mark.parametrize("text", ["", "s", "-1", "1.5s", "1 s", "9" * 16 + "s", None, 30, True, ["1s"]])
def test_what_is_no_time_is_no_wait(text: object) -> None:
    assert parse_time(text) == 0
