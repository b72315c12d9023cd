"""The queue of near pairs: those without a decision, one at a time."""

import re
from html import unescape

from starlette.testclient import TestClient

from gateway.conftest import Serve

PAGE = {"accept": "text/html"}


def queue(client: TestClient, address: str = "/ibidem/page/review?q=drains") -> str:
    answer = client.get(address, headers=PAGE)
    assert answer.status_code == 200
    return answer.text


def test_only_near_pairs_wait_and_a_decision_takes_one_from_the_queue(serve: Serve) -> None:
    client = serve(gateway_overrides=True)
    page = queue(client)
    assert "Pair 1 of 1 without a decision" in page
    assert "draft" in re.findall(r'<bdi class="id">([^<]+)<', page)
    assert "York" in page
    form = {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)}
    answer = client.post("/ibidem/page/overrides", data=form | {"verdict": "not"}, headers=PAGE)
    assert (
        answer.history[0].headers["location"] == "/ibidem/page/review?q=drains&skip=0&said=not&about=lease&about=draft"
    )
    assert "No pairs left to review." in answer.text
    client.post("/ibidem/page/overrides", data=form | {"verdict": "same"}, headers=PAGE)
    assert "No pairs left to review." in queue(client)
    client.post("/ibidem/page/overrides", data=form | {"verdict": "none"}, headers=PAGE)
    assert "Pair 1 of 1" in queue(client)


def test_a_skipped_pair_stays_in_the_queue(serve: Serve) -> None:
    client = serve(gateway_overrides=True)
    skip_link = re.search(r'data-key="k"[^>]* href="([^"]+)"', queue(client))
    assert skip_link is not None
    page = queue(client, unescape(skip_link[1]))
    assert "No pairs left: 1 skipped." in page
    review_link = re.search(r'href="([^"]+)">Review them again', page)
    assert review_link is not None
    assert "Pair 1 of 1" in queue(client, unescape(review_link[1]))


def test_where_decisions_are_not_allowed_the_queue_offers_none(client: TestClient) -> None:
    page = queue(client)
    assert "IBIDEM_GATEWAY_OVERRIDES=true" in page
    assert "verdict" not in page
