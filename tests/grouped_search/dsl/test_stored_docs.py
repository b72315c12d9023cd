"""The requests of `docs/stored.md` and `docs/questions.md` work on real servers."""

import json
import re
import secrets
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from ibidem.cli import main
from ibidem_dedupe.parameters import parse_request
from servers.indices import ask, remove_indices
from support.wrapped_clients import INDEX, STORIES

DOCS = Path(__file__).parents[3] / "docs"


def bodies(page: str) -> list[Any]:
    """The requests of a page, in its order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]


INCLUSIVE, CURRENT, COLLAPSE, LEADS, DIFFERENT, MONTHS, GROUPS, SOURCES, COMPOSITE, FACET = bodies("stored.md")


def response_to(plain_client: Any, body: dict[str, Any]) -> Any:
    """Send a request of the page for a word that the stories hold."""
    return plain_client.search(index=INDEX, body=json.loads(json.dumps(body).replace("wheat", "said")) | {"size": 500})


def test_one_hit_of_each_group_with_others_inside_it(plain_client: Any, groups: dict[str, str]) -> None:
    answer = response_to(plain_client, COLLAPSE)
    groups_shown = [groups[hit["_id"]] for hit in answer["hits"]["hits"]]
    assert len(groups_shown) == len(set(groups_shown)) == answer["aggregations"]["different"]["value"]
    for hit in answer["hits"]["hits"]:
        inside = {groups[each["_id"]] for each in hit["inner_hits"]["copies"]["hits"]["hits"]}
        assert inside == {groups[hit["_id"]]}


def test_the_leads_are_each_group_once(plain_client: Any, groups: dict[str, str]) -> None:
    names = [groups[hit["_id"]] for hit in response_to(plain_client, LEADS)["hits"]["hits"]]
    assert len(names) == len(set(names)) > 10


def test_unique_documents_over_time(plain_client: Any, groups: dict[str, str]) -> None:
    by_month = defaultdict(set)
    for each in STORIES:
        if each.date:
            by_month[each.date[:7]].add(groups[each.id])
    buckets = response_to(plain_client, MONTHS)["aggregations"]["months"]["buckets"]
    assert {each["key_as_string"][:7]: each["different"]["value"] for each in buckets} == {
        month: len(ids) for month, ids in by_month.items()
    }


def test_top_groups_are_those_of_the_most_copies(plain_client: Any, groups: dict[str, str]) -> None:
    copies = Counter({group: count - 1 for group, count in Counter(groups.values()).items() if count > 1})
    buckets = response_to(plain_client, GROUPS)["aggregations"]["groups"]["buckets"]
    assert [each["doc_count"] for each in buckets] == [count for _, count in copies.most_common(10)]
    assert all(copies[each["key"]] == each["doc_count"] for each in buckets)
    titles = {each.id.partition("-")[0]: each.title for each in STORIES}
    for each in buckets:
        (top,) = each["title"]["hits"]["hits"]
        assert top["_source"]["title"] == titles[top["_id"].partition("-")[0]]


def test_documents_and_groups_of_each_source(plain_client: Any, groups: dict[str, str]) -> None:
    buckets = response_to(plain_client, SOURCES)["aggregations"]["sources"]["buckets"]
    counts = {each["key"]: (each["doc_count"], each["different"]["value"]) for each in buckets if each["key"]}
    for source in ("AP", "Reuters"):
        ids_of_source = [each.id for each in STORIES if each.source == source]
        assert counts[source] == (len(ids_of_source), len({groups[name] for name in ids_of_source}))


def test_different_documents_are_counted(plain_client: Any, groups: dict[str, str]) -> None:
    counted = response_to(plain_client, DIFFERENT)["aggregations"]["different"]["value"]
    assert counted == len(set(groups.values()))


def test_all_groups_are_gone_through_page_by_page(plain_client: Any, groups: dict[str, str]) -> None:
    body, counts = json.loads(json.dumps(COMPOSITE)), {}
    body["aggs"]["groups"]["composite"]["size"] = 7
    while page := plain_client.search(index=INDEX, body=body)["aggregations"]["groups"]:
        counts |= {each["key"]["group"]: each["doc_count"] for each in page["buckets"]}
        if "after_key" not in page:
            break
        body["aggs"]["groups"]["composite"]["after"] = page["after_key"]
    assert counts == Counter(groups.values())


def test_a_facet_of_the_leads_counts_each_group_once(plain_client: Any, groups: dict[str, str]) -> None:
    facet = response_to(plain_client, FACET)["aggregations"]["leads"]
    assert facet["doc_count"] == len(set(groups.values()))


def test_what_the_page_of_questions_asks_is_understood_and_its_facet_counts_each_text_once(
    plain_client: Any, groups: dict[str, str]
) -> None:
    for asked in re.findall(r"`(dedupe=\S+)`", (DOCS / "questions.md").read_text(encoding="utf-8")):
        assert parse_request(dict(each.split("=") for each in asked.split("&"))).mode == "indent"
    (body,) = bodies("questions.md")
    buckets = plain_client.search(index=INDEX, body=body)["aggregations"]["source"]["buckets"]
    counts = {each["key"]: each["texts"]["value"] for each in buckets}
    for source in ("AP", "Reuters"):
        assert counts[source] == len({groups[each.id] for each in STORIES if each.source == source})


@pytest.mark.server("elasticsearch")
def test_a_look_up_join_counts_the_groups_of_an_index_that_has_none(
    elasticsearch: str, tables_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    index = f"joined-{secrets.token_hex(4)}"
    beside = f".ibidem-{index}-signatures"
    settings = {"engine": elasticsearch, "index": index, "tables": tables_folder, "fields": "text=content,meta="}
    for name, value in settings.items():
        monkeypatch.setenv(f"IBIDEM_{name.upper()}", str(value))
    rent = "The rent of the house is due on the first day of each month, in advance and without demand"
    texts = {"a": rent, "b": rent, "c": "Another rent that has nothing to do with it"}
    try:
        for name, text in texts.items():
            ask(elasticsearch, "PUT", f"/{index}/_doc/{name}?refresh=true", json.dumps({"content": text}))
        with pytest.raises(SystemExit):
            main(["backfill", "--beside", "--lookup"])
        assert ask(elasticsearch, "GET", f"/{beside}/_settings")[beside]["settings"]["index"]["mode"] == "lookup"
        entries = [each["_source"] for each in ask(elasticsearch, "GET", f"/{beside}/_search")["hits"]["hits"]]
        assert {each["key"] for each in entries} == {f"{index}/{name}" for name in texts}
        assert len({each["ibidem"]["group"] for each in entries}) == 2
        (query,) = re.findall(r"```text\n([^`]*LOOKUP JOIN[^`]*)```", (DOCS / "stored.md").read_text(encoding="utf-8"))
        try:
            ask(elasticsearch, "POST", "/_query", json.dumps({"query": "ROW one = 1"}))
        except RuntimeError as error:
            pytest.skip(f"this Elasticsearch has no ES|QL: {error}")
        found = ask(elasticsearch, "POST", "/_query", json.dumps({"query": query.replace("articles", index)}))
        columns = [each["name"] for each in found["columns"]]
        assert dict(zip(columns, found["values"][0], strict=True)) == {"groups": 2, "documents": 3}
    finally:
        remove_indices(elasticsearch, index)
