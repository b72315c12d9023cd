"""Tests of the engines' own REST suites that pass directly also pass through the gateway, with `dedupe=off` too."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpx2
import pytest

from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from servers import elasticsearch, opensearch
from servers.process import Process
from suites.definitions import ELASTICSEARCH_REQUESTS, ELASTICSEARCH_TESTS, OPENSEARCH, read_chapter, requests_of
from suites.runner import Runner, Skipped, passes

# Those of every run: what searches and writes; `make suites` runs all that ask for one index.
CHAPTERS = (
    *("bulk", "count", "create", "delete", "exists", "get", "get_source", "index", "mget", "msearch", "scroll"),
    *("search.highlight", "search.inner_hits", "suggest", "update"),
)

# Further chapters that `make suites` runs.
ALL = (
    *("search", "search.aggregation", "explain", "field_caps", "mlt", "mtermvectors", "pit", "range"),
    *("search_shards", "termvectors"),
)

SUITES = {
    "opensearch": (opensearch.VERSION, opensearch.prepare, OPENSEARCH, OPENSEARCH),
    "elasticsearch": (elasticsearch.VERSION, elasticsearch.prepare, ELASTICSEARCH_REQUESTS, ELASTICSEARCH_TESTS),
}


@dataclass
class Suite:
    """A server of its own, since the suites delete every index, and the gateway before it."""

    kind: str
    direct: Runner
    through: Runner
    wipe: Callable[[], None]


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest) -> Iterator[Suite]:
    kind: str = request.param
    version, prepare, requests, _ = SUITES[kind]
    definitions = requests_of(requests)
    process = Process(f"suite-{kind}", prepare)
    address = process.wait()
    numbers = tuple(map(int, version.split(".")))
    settings = Settings(engine=address)
    url = address.partition("+")[2]
    try:
        with run_gateway(settings) as gateway, httpx2.Client(base_url=url, timeout=60) as client:
            client.put("/_cluster/settings", json={"persistent": {"action.destructive_requires_name": False}})

            def wipe() -> None:
                client.delete("/*", params={"expand_wildcards": "all"})

            direct, gateway_runner = (
                Runner(url, definitions, numbers),
                Runner(gateway, definitions, numbers, retry=True),
            )
            yield Suite(kind, direct, gateway_runner, wipe)
            direct.close()
            gateway_runner.close()
    finally:
        process.stop()


@pytest.mark.slow
@pytest.mark.timeout(1_500)
@pytest.mark.parametrize("chapter", [*CHAPTERS, *(ALL if os.environ.get("IBIDEM_SUITES") == "all" else ())])
def test_what_passes_directly_passes_through(suite: Suite, chapter: str) -> None:
    *_, artifact = SUITES[suite.kind]
    faults: dict[str, str] = {}
    successes = 0
    tests = list(read_chapter(artifact, chapter))
    for test in tests:
        try:
            why = passes(suite.through, test)
            suite.wipe()
            successes += not why
            if why and not passes(suite.direct, test):
                faults[f"{chapter}/{test.name}"] = why
        except Skipped:
            continue
        finally:
            suite.wipe()
    differences = {name for name in DIFFERENCES[suite.kind] if name.startswith(f"{chapter}/")}
    assert faults.keys() == differences, faults
    assert successes or not tests, "no test of the chapter passes: the runner or the server is not what the suite wants"


TWICE = "the runner sends each search twice, and the second one is answered from the cache that the test counts"
CACHED: Mapping[str, str] = {
    "search.aggregation/50_filter.yml: Filter aggs with terms lookup and ensure it's cached": TWICE,
    "search.aggregation/50_filter.yml: Filter aggs no lookup and ensure it's cached": TWICE,
}

DIFFERENCES: Mapping[str, Mapping[str, str]] = {"opensearch": CACHED, "elasticsearch": CACHED}
