"""Requests that try to read an index that is not open, in every way that was found or thought of."""

import base64
import gzip
import json
from dataclasses import dataclass, field
from urllib.parse import quote

OPEN, SECRET = "leases", "vault"  # the open index, and the other one

ANOTHER_PACKING = "another packing"  # the one whose body is harmless, whatever an engine reads in it

TYPE = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}
PACKED = {"content-encoding": "gzip"}


@dataclass(frozen=True)
class Attack:
    """One request."""

    path: str  # with the query string, as it goes over the line
    body: bytes = b""  # as it goes over the line
    headers: dict[str, str] = field(default_factory=lambda: dict(TYPE))  # names in small letters
    method: str = "POST"


def wrap(query: object) -> dict[str, object]:
    """Write a query as a text."""
    return {"wrapper": {"query": base64.b64encode(json.dumps(query).encode()).decode()}}


def attacks(index: str = OPEN, secret: str = SECRET) -> dict[str, Attack]:
    """Return the requests by what is tried; none of them is answered."""

    def terms(index: object = secret) -> dict[str, object]:
        return {"terms": {"id": {"index": index, "id": "1", "path": "word"}}}

    def searching(body: object, query: str = "") -> Attack:
        return Attack(f"/{index}/_search{query}", json.dumps(body).encode())

    head, every_line = b'{"index":"%s"}\n' % secret.encode(), b'{"query":{"match_all":{}}}\n'
    head_line = b'{"index":"%s"}\n' % index.encode()
    source = quote(json.dumps({"query": terms()}))
    double = f'{{"query":{{"match_all":{{}}}},"query":{json.dumps(terms())}}}'.encode()

    return {
        "two gzip members": Attack(
            "/_msearch", gzip.compress(head_line + every_line) + gzip.compress(head + every_line), LINES | PACKED
        ),
        "two gzip members in one search": Attack(
            f"/{index}/_search",
            gzip.compress(b"{}") + gzip.compress(json.dumps({"query": terms()}).encode()),
            TYPE | PACKED,
        ),
        "an empty first line": Attack("/_msearch", b"\n" + head_line + head + every_line, LINES),
        "an empty first line with a path": Attack(f"/{index}/_msearch", b"\n" + head + every_line + b"{}\n", LINES),
        "lines that end with a return": Attack("/_msearch", head_line + b"{}\r" + head + every_line, LINES),
        "an empty packed body beside source": Attack(
            f"/{index}/_search?source={source}", gzip.compress(b""), TYPE | PACKED
        ),
        "a body beside source": Attack(f"/{index}/_search?source={source}", b"{}"),
        "source behind a semicolon": Attack(
            f"/{index}/_search?q=a;source={source};source_content_type=application/json", method="GET"
        ),
        "source of a count behind a semicolon": Attack(
            f"/{index}/_count?pretty;source={source};source_content_type=application/json", method="GET"
        ),
        "index behind a semicolon": Attack(f"/_msearch?pretty;index={secret}", head_line + every_line, LINES),
        "source in another form": Attack(
            f"/{index}/_search?source={quote(f'query: {{terms: {{id: {{index: {secret}, id: 1, path: word}}}}}}')}"
            "&source_content_type=application/yaml",
            method="GET",
        ),
        "a query written as a text": searching({"query": wrap(terms())}),
        "a query written as a text, twice": searching({"query": {"bool": {"must": [wrap(wrap(terms()))]}}}),
        "a query written as a text in a filter of buckets": searching({"aggs": {"a": {"filter": wrap(terms())}}}),
        "a query of a suggestion": searching(
            {
                "suggest": {
                    "a": {
                        "text": "rent",
                        "phrase": {"field": "text", "collate": {"query": {"source": json.dumps(terms())}}},
                    }
                }
            }
        ),
        "terms of another document": searching({"query": terms()}),
        "terms where no query is expected": searching({"query": {"bool": {"mustNot": [terms()], "must": []}}}),
        "a number for an index": searching({"query": terms(5)}),
        "two queries in one body": Attack(f"/{index}/_search", double),
        "two queries in one line": Attack(f"/{index}/_msearch", b"{}\n" + double + b"\n", LINES),
        "two heads in one line": Attack(
            "/_msearch", head_line[:-2] + b',"index":"%s"}\n' % secret.encode() + every_line, LINES
        ),
        "a shape of another document": searching(
            {"query": {"geo_shape": {"place": {"indexed_shape": {"index": secret, "id": "1"}}}}}
        ),
        "a shape where the engine looks by itself": searching(
            {"query": {"geo_shape": {"at": {"indexed_shape": {"id": "1"}}}}}
        ),
        "texts like another document": searching(
            {"query": {"more_like_this": {"like": [{"_index": secret, "_id": "1"}]}}}
        ),
        "texts like a text of another index": searching(
            {"query": {"more_like_this": {"like": [{"_index": secret, "doc": {"text": "rent"}}], "fields": ["text"]}}}
        ),
        "queries that match another document": searching(
            {"query": {"percolate": {"field": "q", "index": secret, "id": "1"}}}
        ),
        "a runtime field": searching(
            {
                "runtime_mappings": {
                    "a": {"type": "lookup", "target_index": secret, "input_field": "id", "target_field": "id"}
                },
                "fields": ["a"],
            }
        ),
        "how much indexes count": searching({"indices_boost": [{secret: 2}]}),
        "a point in time": searching({"pit": {"id": "abc"}}),
        "a template": searching({"query": {"template": terms()}}),
        "a pipeline": searching(
            {"search_pipeline": {"request_processors": [{"filter_query": {"query": wrap(terms())}}]}}
        ),
        "a scroll": searching({}, "?scroll=24h"),
        "several searches in a scroll": Attack("/_msearch?scroll=1d", head_line + every_line, LINES),
        "a vector of another document": searching(
            {
                "knn": {
                    "field": "v",
                    "k": 1,
                    "num_candidates": 1,
                    "query_vector_builder": {"lookup": {"index": secret, "id": "1", "path": "v"}},
                }
            }
        ),
        "terms in a filter of neighbours": searching(
            {"query": {"knn": {"field": "v", "query_vector": [1], "filter": wrap(terms())}}}
        ),
        "terms in an order": searching({"sort": [{"a.b": {"nested": {"path": "a", "filter": wrap(terms())}}}]}),
        "terms in a mark": searching({"highlight": {"fields": {"text": {"highlight_query": wrap(terms())}}}}),
        "terms in a rescore": searching({"rescore": {"query": {"rescore_query": wrap(terms())}}}),
        "a body in another form": Attack(
            f"/{index}/_search", b"query: {match_all: {}}", {"content-type": "application/yaml"}
        ),
        ANOTHER_PACKING: Attack(f"/{index}/_search", b"{}", TYPE | {"content-encoding": "deflate"}),
        "a head with another index beside": Attack(
            f"/{index}/_msearch", b'{"index":"%s","project_routing":"x"}\n{}\n' % index.encode(), LINES
        ),
        "an index of a number": Attack("/_msearch", b'{"index":5}\n{}\n', LINES),
        "another action behind the index": Attack(f"/{index},{secret}/_search", method="GET"),
        "all but one": Attack(f"/{index},-x*,*/_search", method="GET"),
    }
