"""Made-up requests reach no index that is not open."""

import json
from random import Random

import pytest

from gateway.attacks import OPEN, SECRET, attacks
from gateway.conftest import Leases
from gateway.smuggling import Grammar, LineRequest, Outcome, fuzz, judged, recorded, send
from servers.indices import ask

ON_A_STAND_IN, ON_AN_ENGINE = 400, 200


def grammar(index: str = OPEN, secret: str = SECRET) -> Grammar:
    return Grammar(Random(12), index, secret)  # noqa: S311 - nothing is kept secret by it


@pytest.mark.slow
@pytest.mark.parametrize("paths", ["search", "all"])
def test_nothing_that_reaches_the_engine_names_another_index(paths: str) -> None:
    request, outcome = grammar(), Outcome()
    with recorded(gateway_paths=paths) as (url, engine):
        for _ in range(ON_A_STAND_IN):
            fuzz(url, engine, request, outcome, documents=paths == "all")
    assert not outcome.faults
    assert outcome.reaching > ON_A_STAND_IN / 20


def test_a_good_part_of_what_is_made_up_would_reach_another_index_if_nobody_looked() -> None:
    request = grammar()
    aimed = [bool(judged(request.request()) - {OPEN, ""}) for _ in range(ON_A_STAND_IN)]
    assert sum(aimed) > ON_A_STAND_IN / 3


def reads(leases: Leases, index: str) -> tuple[int, int]:
    """Return how often an engine searched an index and fetched a document of it by id."""
    totals = ask(leases.settings.engine, "GET", f"/{index}/_stats/search,get")["_all"]["total"]
    return totals["search"]["query_total"], totals["get"]["total"]


def test_neither_engine_ever_reads_the_other_index_by_its_own_count(leases: Leases, gateway: str, vault: str) -> None:
    reads_before = reads(leases, vault)
    for each in attacks(leases.index, vault).values():
        send(gateway, LineRequest(each.method, each.path, (("host", "127.0.0.1"), *each.headers.items()), each.body))
    request = grammar(leases.index, vault)
    statuses = {send(gateway, request.request())[0] for _ in range(ON_AN_ENGINE)}
    assert reads(leases, vault) == reads_before
    assert 200 in statuses


def test_an_engine_counts_what_is_read_of_an_index(leases: Leases, vault: str) -> None:
    reads_before = reads(leases, vault)
    body = {"query": {"terms": {"_id": {"index": vault, "id": "1", "path": "word"}}}}
    ask(leases.settings.engine, "POST", f"/{leases.index}/_search", json.dumps(body))
    ask(leases.settings.engine, "POST", f"/{vault}/_search", "{}")
    reads_after = reads(leases, vault)
    assert all(later > earlier for earlier, later in zip(reads_before, reads_after, strict=True))
