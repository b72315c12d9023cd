"""Documents written through a signing gateway are signed in the index."""

import gzip
import json
from collections.abc import Mapping
from typing import Any

import httpx2
import orjson
import pytest

from gateway.signing.conftest import Signed, Start
from ibidem_engines.connect import open_engine
from ibidem_ingest.signatures.content import group_name
from ibidem_workers.backfill.check import check
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.groups.service import settle_all
from ibidem_workers.runs import summary
from support.leases import LEASE

OTHER = (
    "The committee met on Tuesday and decided to postpone the vote on the new harbour until the spring of next year. "
)


NDJSON = {"content-type": "application/x-ndjson"}


def lines(*parts: object) -> bytes:
    return b"".join(orjson.dumps(part) + b"\n" for part in parts)


def read_own_fields(signing_gateway: Signed, id_: str) -> Mapping[str, Any]:
    """Return the fields that ibidem added to a document."""
    return signing_gateway.source(id_).get("ibidem") or {}


def content(signing_gateway: Signed, id_: str) -> str:
    """Return a document's content hash, which `_source` does not hold."""
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_refresh")
    body = {"query": {"ids": {"values": [id_]}}, "docvalue_fields": ["ibidem.content"]}
    (hit,) = signing_gateway.ask("POST", f"/{signing_gateway.index}/_search", body)["hits"]["hits"]
    return str(hit["fields"]["ibidem.content"][0])


def bulk(signing_gateway: Signed, *parts: object, **headers: str) -> list[Any]:
    reply = signing_gateway.ask("POST", f"/{signing_gateway.index}/_bulk?refresh=true", lines(*parts), **headers)
    return [next(iter(each.values())) for each in reply["items"]]


def test_a_document_is_signed_as_a_worker_signs_it(signing_gateway: Signed) -> None:
    assert (
        signing_gateway.ask("PUT", f"/{signing_gateway.index}/_doc/a", {"text": LEASE, "title": "Lease"})["result"]
        == "created"
    )
    assert signing_gateway.ask("PUT", f"/{signing_gateway.index}/_create/b%2Fc", {"text": LEASE})["_id"] == "b/c"
    assert content(signing_gateway, "a") == content(signing_gateway, "b/c")
    assert read_own_fields(signing_gateway, "b%2Fc")["group"] == group_name("b/c")
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_refresh")
    report = check(signing_gateway.settings)
    assert (report.changed, report.outdated) == (0, 0)


def test_a_document_without_an_id_gets_one_since_it_is_part_of_what_is_signed(signing_gateway: Signed) -> None:
    response = signing_gateway.ask("POST", f"/{signing_gateway.index}/_doc", {"text": LEASE})
    assert response["result"] == "created"
    assert read_own_fields(signing_gateway, response["_id"])["id"] == response["_id"]


def test_every_action_of_bulk_is_answered_in_its_order_and_its_documents_are_signed(signing_gateway: Signed) -> None:
    items = bulk(
        signing_gateway,
        {"index": {"_id": "m1"}},
        {"text": LEASE},
        {"create": {"_id": "m2"}},
        {"text": LEASE + OTHER},
        {"index": {}},
        {"text": LEASE},
        {"delete": {"_id": "m1"}},
        {"create": {"_id": "m2"}},
        {"text": "again"},
        {"update": {"_id": "m3"}},
        {"doc": {"text": OTHER}, "doc_as_upsert": True},
    )
    assert [each["status"] for each in items] == [201, 201, 201, 200, 409, 201]
    assert items[2]["_id"] == read_own_fields(signing_gateway, items[2]["_id"])["id"]
    assert {read_own_fields(signing_gateway, each)["schema"] for each in ("m2", "m3")} == {"2"}


@pytest.mark.parametrize("packed", [False, True])
def test_thousands_of_documents_are_signed_byte_for_byte_but_for_the_object_that_is_added(
    signing_gateway: Signed, packed: bool
) -> None:
    count = 3_000
    raw = b"".join(
        b'{"index":{"_id":"n%d"}}\n{"text" : "%s %d", "price": 1.50, "wide": %d}\r\n'
        % (at, LEASE.encode(), at, 10**30 + at)
        for at in range(count)
    )
    body_sent = gzip.compress(raw) if packed else raw
    encoding = {"content-encoding": "gzip"} if packed else {}
    reply = signing_gateway.ask(
        "POST",
        f"/{signing_gateway.index}/_bulk?refresh=true",
        body_sent,
        **{"content-type": "application/x-ndjson", **encoding},
    )
    assert not reply["errors"]
    assert [each["index"]["_id"] for each in reply["items"]] == [f"n{at}" for at in range(count)]
    assert all(read_own_fields(signing_gateway, f"n{at}") for at in (0, 1_234, count - 1))
    with_all = signing_gateway.ask(
        "POST", f"/{signing_gateway.index}/_count", {"query": {"exists": {"field": "ibidem.content"}}}
    )
    assert with_all["count"] >= count


def test_a_backfill_finds_nothing_to_do_and_groups_are_settled_as_after_an_ingest(start: Start) -> None:
    signing_gateway = start()
    bulk(
        signing_gateway, {"index": {"_id": "a"}}, {"text": LEASE}, {"index": {"_id": "b"}}, {"text": LEASE + " Twice."}
    )
    bulk(signing_gateway, {"index": {"_id": "c"}}, {"text": OTHER * 5})
    account = summary(
        open_engine(signing_gateway.settings.address, signing_gateway.index),
        backfill_in_place(signing_gateway.settings),
    )
    assert (account["indexed"], account["unchanged"]) == (0, 3)
    assert (
        read_own_fields(signing_gateway, "b")["group"]
        == read_own_fields(signing_gateway, "a")["group"]
        == group_name("a")
    )
    bulk(signing_gateway, {"index": {"_id": "b"}}, {"text": OTHER * 5 + "Twice."})
    settle_all(open_engine(signing_gateway.settings.address, signing_gateway.index))
    assert read_own_fields(signing_gateway, "b")["group"] == read_own_fields(signing_gateway, "c")["group"]
    assert (read_own_fields(signing_gateway, "a")["lead"], read_own_fields(signing_gateway, "b")["lead"]) == (
        True,
        False,
    )


def test_an_update_is_signed_with_the_document_that_it_changes(signing_gateway: Signed) -> None:
    bulk(signing_gateway, {"index": {"_id": "u"}}, {"text": LEASE, "title": "Lease", "meta": {"court": "A"}})
    fields_before = content(signing_gateway, "u")
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_update/u", {"doc": {"text": OTHER * 3}})
    assert (signing_gateway.source("u")["title"], signing_gateway.source("u")["meta"]) == ("Lease", {"court": "A"})
    assert content(signing_gateway, "u") != fields_before
    bulk(signing_gateway, {"update": {"_id": "u"}}, {"doc": {"meta": {"court": "B"}}})
    assert "ibidem" in signing_gateway.source("u")
    assert not check(signing_gateway.settings).changed
    assert found_by_keys(signing_gateway, "u")


def found_by_keys(signing_gateway: Signed, id_: str) -> bool:
    """Return whether a document can be found by its look-up values, which are not in `_source`."""
    query = {"bool": {"filter": [{"ids": {"values": [id_]}}, {"prefix": {"ibidem.keys": {"value": ""}}}]}}
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_refresh")
    return bool(signing_gateway.ask("POST", f"/{signing_gateway.index}/_count", {"query": query})["count"])


def test_an_update_that_changes_nothing_is_none(signing_gateway: Signed) -> None:
    bulk(signing_gateway, {"index": {"_id": "v"}}, {"text": LEASE})
    reply = signing_gateway.ask("POST", f"/{signing_gateway.index}/_update/v", {"doc": {"text": LEASE}})
    assert reply["result"] == "noop"
    assert found_by_keys(signing_gateway, "v")


def test_a_group_stays_where_an_update_changes_nothing_that_is_signed(start: Start) -> None:
    signing_gateway = start({"mappings": {"properties": {"text": {"type": "text"}, "views": {"type": "long"}}}})
    bulk(signing_gateway, {"index": {"_id": "a"}}, {"text": LEASE}, {"index": {"_id": "b"}}, {"text": LEASE})
    settle_all(open_engine(signing_gateway.settings.address, signing_gateway.index))
    assert not read_own_fields(signing_gateway, "b")["lead"]
    bulk(signing_gateway, {"update": {"_id": "b"}}, {"doc": {"views": 2}})
    assert (signing_gateway.source("b")["views"], read_own_fields(signing_gateway, "b")["lead"]) == (2, False)
    assert read_own_fields(signing_gateway, "b")["group"] == read_own_fields(signing_gateway, "a")["group"]


def test_an_update_behind_another_write_of_the_same_request_leaves_no_signatures_of_an_older_text(
    signing_gateway: Signed,
) -> None:
    items = bulk(
        signing_gateway,
        {"index": {"_id": "w"}},
        {"text": LEASE},
        {"update": {"_id": "w"}},
        {"doc": {"text": OTHER}},
    )
    assert [each["status"] for each in items] == [201, 200]
    assert (signing_gateway.source("w")["text"], read_own_fields(signing_gateway, "w")) == (OTHER, {})
    backfill_in_place(signing_gateway.settings)
    assert content(signing_gateway, "w")


@pytest.mark.parametrize("has_known_id", [False, True])
def test_an_update_that_the_engine_is_to_try_again_is_signed_where_it_makes_the_document(
    signing_gateway: Signed, has_known_id: bool
) -> None:
    name = f"x{has_known_id}"
    if has_known_id:
        bulk(signing_gateway, {"index": {"_id": name}}, {"text": LEASE})
    items = bulk(
        signing_gateway,
        {"update": {"_id": name, "retry_on_conflict": 3}},
        {"doc": {"text": OTHER}, "doc_as_upsert": True},
    )
    assert items[0]["status"] == (200 if has_known_id else 201)
    assert (signing_gateway.source(name)["text"], bool(read_own_fields(signing_gateway, name))) == (
        OTHER,
        not has_known_id,
    )


def test_an_update_loses_against_what_was_written_after_it_was_signed(signing_gateway: Signed) -> None:
    bulk(signing_gateway, {"index": {"_id": "y"}}, {"text": LEASE})
    reply = signing_gateway.ask("GET", f"/{signing_gateway.index}/_doc/y")
    stale = f"if_seq_no={reply['_seq_no'] + 1}&if_primary_term={reply['_primary_term']}"
    answer = signing_gateway.ask("POST", f"/{signing_gateway.index}/_update/y?{stale}", {"doc": {"text": OTHER}})
    assert answer["status"] == 409
    assert signing_gateway.source("y")["text"] == LEASE


def test_what_cannot_be_signed_is_passed_on_without_signatures_and_counted(start: Start) -> None:
    signing_gateway = start(max_text=1_000)
    signing_gateway.ask("PUT", f"/{signing_gateway.index}/_doc/a", {"text": LEASE})
    old_fields = read_own_fields(signing_gateway, "a")
    assert old_fields
    items = bulk(
        signing_gateway,
        {"index": {"_id": "a"}},
        {"text": "long " * 300, "ibidem": old_fields},
        {"index": {"_id": "b"}},
        {"title": "no text"},
        {"index": {"_id": "c"}},
        {"text": LEASE},
    )
    assert [each["status"] for each in items] == [200, 201, 201]
    assert [bool(read_own_fields(signing_gateway, each)) for each in "abc"] == [False, False, True]
    reasons = {
        reason: signing_gateway.counted(f'ibidem_writes_unsigned_total{{reason="{reason}"}}') for reason in REASONS
    }
    assert reasons == {"text": 1, "length": 1}
    assert signing_gateway.counted("ibidem_writes_signed_total") == 2


REASONS = ("text", "length")


def test_a_document_that_goes_through_a_pipeline_is_signed_by_a_backfill_behind_it(signing_gateway: Signed) -> None:
    pipeline = f"{signing_gateway.index}-upper"
    signing_gateway.ask("PUT", f"/_ingest/pipeline/{pipeline}", {"processors": []})
    try:
        signing_gateway.ask("PUT", f"/{signing_gateway.index}/_doc/p?pipeline={pipeline}", {"text": LEASE})
        assert (signing_gateway.source("p")["text"], read_own_fields(signing_gateway, "p")) == (LEASE, {})
        assert signing_gateway.counted('ibidem_writes_unsigned_total{reason="pipeline"}') == 1
    finally:
        signing_gateway.ask("DELETE", f"/_ingest/pipeline/{pipeline}")


def test_a_script_is_passed_on_and_counted(signing_gateway: Signed) -> None:
    bulk(signing_gateway, {"index": {"_id": "s"}}, {"text": LEASE, "views": 1})
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_update/s", {"script": {"source": "ctx._source.views++"}})
    assert signing_gateway.counted('ibidem_writes_unsigned_total{reason="script"}') == 1


def test_an_index_that_is_not_signed_gets_what_was_sent_byte_for_byte(signing_gateway: Signed) -> None:
    name = f"{signing_gateway.index}-plain"
    try:
        body = b'{"index":{"_index":"%s","_id":"1"}}\n{"text" : "x", "odd":1.50}\n' % name.encode()
        assert not signing_gateway.ask("POST", "/_bulk", body)["errors"]
        assert signing_gateway.ask("GET", f"/{name}/_doc/1")["_source"] == {"text": "x", "odd": 1.5}
        assert "ibidem" not in json.dumps(signing_gateway.ask("GET", f"/{name}"))
    finally:
        signing_gateway.ask("DELETE", f"/{name}")


def test_one_request_may_write_to_signed_indexes_and_others(signing_gateway: Signed) -> None:
    name = f"{signing_gateway.index}-plain"
    try:
        reply = signing_gateway.ask(
            "POST",
            "/_bulk?refresh=true",
            lines(
                {"index": {"_index": name, "_id": "1"}},
                {"text": LEASE},
                {"index": {"_index": signing_gateway.index, "_id": "both"}},
                {"text": LEASE},
            ),
        )
        assert not reply["errors"]
        assert "ibidem" not in signing_gateway.ask("GET", f"/{name}/_doc/1")["_source"]
        assert read_own_fields(signing_gateway, "both")
    finally:
        signing_gateway.ask("DELETE", f"/{name}")


def test_an_index_of_others_is_signed_by_the_names_of_its_own_fields(start: Start) -> None:
    text = {"type": "text"}
    properties = {"headline": text, "body": {"properties": {"content": text}}}
    mapping = {"mappings": {"dynamic": "strict", "properties": properties}}
    signing_gateway = start(mapping, fields="text=body.content,title=headline,meta=")
    bulk(signing_gateway, {"index": {"_id": "a"}}, {"body": {"content": LEASE}})
    assert read_own_fields(signing_gateway, "a")["length"] > 50
    assert not check(signing_gateway.settings).changed


@pytest.mark.parametrize(
    "body",
    [
        b'{"index":{"_id":"z"}}\n{"text":"a"}',
        b'{"index":{"_id":"z"}}\n{"text":\n',
        b'{"index":{"_id":"z"}\n{"text":"a"}\n',
        b'{"index":{"_id":"z"}}\n',
        b'{"nosuch":{"_id":"z"}}\n{"text":"a"}\n',
        b'{"index":{"_id":"z"}}\n["text"]\n',
        b"",
    ],
)
def test_what_the_engine_refuses_it_refuses_in_its_own_words(signing_gateway: Signed, body: bytes) -> None:
    url = signing_gateway.settings.engine.partition("+")[2]
    answers = [
        httpx2.post(
            f"{base}/{signing_gateway.index}/_bulk?filter_path=-took,-items.*._seq_no", content=body, headers=NDJSON
        )
        for base in (url, signing_gateway.url)
    ]
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].json().keys() == answers[1].json().keys()


def test_while_not_all_indexes_are_open_the_same_rules_hold_for_what_is_signed(start: Start) -> None:
    signing_gateway = start(gateway_indexes=())
    reply = signing_gateway.ask("POST", "/vault/_bulk", lines({"index": {"_id": "1"}}, {"text": LEASE}))
    assert reply["status"] == 403
    twice = b'{"index":{"_id":"1"}}\n{"text":"a","text":"b"}\n'
    assert signing_gateway.ask("POST", f"/{signing_gateway.index}/_bulk", twice)["status"] == 400
    bulk(signing_gateway, {"index": {"_id": "a"}}, {"text": LEASE}, {"index": {}}, {"text": LEASE})
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_doc", {"text": LEASE})
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_update/a", {"doc": {"text": OTHER}})
    assert read_own_fields(signing_gateway, "a")["length"] == len(OTHER.split())
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_refresh")
    reply = signing_gateway.ask(
        "POST", f"/{signing_gateway.index}/_count", {"query": {"exists": {"field": "ibidem.content"}}}
    )
    assert reply["count"] == 3


def test_an_index_that_is_made_again_through_the_gateway_without_our_fields_gets_no_signatures(start: Start) -> None:
    signing_gateway = start()
    bulk(signing_gateway, {"index": {"_id": "a"}}, {"text": LEASE})
    assert read_own_fields(signing_gateway, "a")
    signing_gateway.ask("DELETE", f"/{signing_gateway.index}")
    bulk(signing_gateway, {"index": {"_id": "a"}}, {"text": LEASE})
    assert signing_gateway.source("a") == {"text": LEASE}
