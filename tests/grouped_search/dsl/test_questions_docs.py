"""The lines of `docs/questions.md` answer the questions that they stand under, on real servers."""

import json
import re
from pathlib import Path
from typing import Any

from support.wrapped_clients import INDEX, STORIES

PAGE = (Path(__file__).parents[3] / "docs" / "questions.md").read_text(encoding="utf-8")
QUERY = {"match": {"text": "said"}}


def parameters(heading: str) -> dict[str, str]:
    """The parameters of the first request below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    request = re.search(r"`(dedupe=\S+)`", section)
    assert request, heading
    return dict(each.split("=") for each in request[1].split("&"))


def ids_of(client: Any) -> list[str]:
    """All stories that match."""
    hits = client.search(index=INDEX, body={"query": QUERY, "size": 1_000})["hits"]["hits"]
    return [hit["_id"] for hit in hits]


def test_the_account_counts_documents_and_groups_over_all_matches(
    plain_client: Any, wrapped_client: Any, groups: dict[str, str]
) -> None:
    asked = parameters("How many different results are there?")
    body = {"query": QUERY, "size": 1, "track_total_hits": True}
    account = wrapped_client.search(index=INDEX, body=body, **asked)["dedupe"]
    matching = ids_of(plain_client)
    assert account["documents"]["matched"] == len(matching)
    assert account["groups"]["matching"] == len({groups[name] for name in matching})


def test_a_facet_counts_each_text_once_without_a_client_of_ours(plain_client: Any, groups: dict[str, str]) -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    body = json.loads(block)
    buckets = plain_client.search(index=INDEX, body=body)["aggregations"]["source"]["buckets"]
    texts = {source: {groups[each.id] for each in STORIES if each.source == source} for source in ("AP", "Reuters")}
    by_name = {each["key"]: each["texts"]["value"] for each in buckets}
    assert {name: by_name[name] for name in texts} == {name: len(each) for name, each in texts.items()}


def test_near_copies_are_grouped_with_the_reason(wrapped_client: Any) -> None:
    asked = parameters("Near copies, not equal keys")
    answer = wrapped_client.search(index=INDEX, body={"query": QUERY, "size": 50}, dedupe_explain=True, **asked)
    near = [hit["_dedupe"] for hit in answer["hits"]["hits"] if hit["_dedupe"]["level"] == "near"]
    assert near
    assert all(mark["why"] for mark in near)
