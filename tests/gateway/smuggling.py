"""Requests made up by a grammar of their own, each of which may hide the name of an index that is not open.

    python -m gateway.smuggling [--seconds 60] [--seed N]    in the folder tests

sends them for a while through the gateway to an engine that keeps what reaches it, and says what got through.
"""

import base64
import gzip
import json
import sys
import time
import zlib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from random import Random
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from gateway.attacks import OPEN, SECRET
from gateway.lenient import reached, unpacked
from ibidem_core.settings import Settings
from servers.fake_server import Answer, Between, Request, between
from support.gateway_server import run_gateway

ACTIONS = (*("_search",) * 12, *("_msearch",) * 9, *("_count",) * 3, "_search/", "_SEARCH", "_search/scroll")
DOCUMENTS = (
    "_doc/1",
    "_create/1",
    "_update/1",
    "_source/1",
    "_bulk",
    "_bulk",
    "_bulk",
    "_mget",
    "_mget",
    "",
    "_refresh",
)
# Paths of documents, and others that are never passed on while not all indexes are open.
ELSEWHERE = (
    *("_mapping", "_alias/x", "_settings", "_delete_by_query", "_update_by_query", "_explain/1", "_search/template"),
    *(
        "_termvectors/1",
        "_pit",
        "_async_search",
        "_rank_eval",
        "_search_shards",
        "_knn_search",
        "_eql/search",
        "_close",
    ),
)

TYPES = (
    *("application/json",) * 4,
    *("application/x-ndjson",) * 2,
    *("application/vnd.elasticsearch+json; compatible-with=9", "application/json; charset=utf-16", "application/yaml"),
    *("application/cbor", "application/smile", "text/plain", "application/x-www-form-urlencoded", ""),
)
METHODS = ("POST", "POST", "POST", "GET", "GET", "PUT", "DELETE", "HEAD")


@dataclass(frozen=True)
class LineRequest:
    """One request, as it goes over the line."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass
class Grammar:
    """Makes requests."""

    random: Random  # decides
    index: str = OPEN  # the index that is open
    secret: str = SECRET  # the one that is not

    def request(self) -> LineRequest:
        """Make a request."""
        action = self.random.choice(ACTIONS)
        several = "msearch" in action
        body = self.lines() if several else self.text(self.body())
        if self.one_in(5):
            body = b""
        kind = self.random.choice(TYPES if self.one_in(6) else TYPES[:1])
        packing, body = self.packed(body)
        headers = [("host", "127.0.0.1"), *([("content-type", kind)] if kind else []), *packing, *self.further()]
        path = f"/{self.target()}/{action}" if not several or self.one_in(2) else f"/{action}"
        return LineRequest(
            self.random.choice(METHODS if self.one_in(3) else METHODS[:4]), path + self.query(), tuple(headers), body
        )

    def of_documents(self) -> LineRequest:
        """Make a request that reads or writes documents, or does what is never passed on."""
        action = self.random.choice(ELSEWHERE if self.one_in(6) else DOCUMENTS)
        document = json.dumps({"text": "a"}).encode()
        if action == "_bulk":
            body = b"".join(self.operation() for _ in range(self.random.choice((1, 2, 3))))
        elif action == "_mget":
            documents = [{"_id": "1", self.random.choice(("_index", "_index", "index")): self.name()} for _ in "ab"]
            body = self.text({"docs": documents} if self.one_in(2) else {"ids": ["1"], "docs": documents[:1]})
        else:
            body = b"" if self.one_in(2) else document
        packing, body = self.packed(body) if self.one_in(3) else ([], body)
        kind = "application/x-ndjson" if action == "_bulk" else self.random.choice(TYPES)
        path = f"/{action}" if action in ("_bulk", "_mget") and self.one_in(2) else f"/{self.target()}/{action}"
        if self.one_in(10):
            path = self.random.choice(
                ("/_reindex", "/_aliases", "/_all/_doc/1", "/_sql", "/_cat/indices", f"/_alias/{self.secret}")
            )
        method = self.random.choice(METHODS)
        return LineRequest(
            method, path.rstrip("/") or "/x", (("host", "127.0.0.1"), ("content-type", kind), *packing), body
        )

    def operation(self) -> bytes:
        """Write one operation of `_bulk`."""
        meta: dict[str, Any] = {"_id": "1"} | ({"_index": self.name() if self.one_in(2) else self.index})
        line: dict[str, Any] = {self.random.choice(("index", "create", "update", "delete", "reindex")): meta}
        if self.one_in(8):
            line["index"] = {"_index": self.secret}
        end = self.random.choice((b"\n",) * 6 + (b"\r\n", b"\n\n", b"\r"))
        text = self.text(line, honest=not self.one_in(6)) + end
        return text if "delete" in line else text + b'{"text":"a"}' + end

    def one_in(self, out_of: int) -> bool:
        """Say yes once in so many times."""
        return self.random.randrange(out_of) == 0

    def name(self) -> str:
        """Name an index, or several, in one of the ways in which engines take them."""
        index, secret = self.index, self.secret
        odd = (
            f"{index},{secret}",
            "*",
            "_all",
            f"-{index}",
            f"{secret[:3]}*",
            f"*,-{index}",
            f"<{secret}>",
            "",
            "shapes",
        )
        return self.random.choice((index, index, index, secret, secret, *odd, f"c:{secret}", f"{secret}::data", "5"))

    def target(self) -> str:
        """Write what a path names, some letters as numbers."""
        name = self.name() if self.one_in(8) else self.index
        text = quote(name, safe=",*<>:-") if self.one_in(2) else name.replace(" ", "")
        if self.one_in(20):
            text = f"%{ord(text[0]):02x}{text[1:]}" if text else "%2e"
        prefix = self.random.choice(("./", "x/../", "%2f", "/", "a%2f")) if self.one_in(15) else ""
        return prefix + (text or "%20")

    def query(self) -> str:
        """Write a query string, parted by either mark."""
        parameters = [self.parameter() for _ in range(self.random.choice((0, 0, 0, 1, 1, 2)))]
        text = ""
        for at, (name, value) in enumerate(parameters):
            mark = self.random.choice("&&&;") if at else "?"
            spelled = "".join(f"%{ord(each):02X}" for each in name) if self.one_in(8) else name
            text += f"{mark}{spelled}={quote(value) if not self.one_in(6) else quote(value, safe=';&=')}"
        return text

    def parameter(self) -> tuple[str, str]:
        """Choose a parameter."""
        body = self.text(self.body(), honest=True).decode()
        hiding = f"a;source={quote(body)};source_content_type=application/json"
        return self.random.choice(
            (
                *(
                    ("q", "rent"),
                    ("q", hiding),
                    ("size", "1"),
                    ("pretty", ""),
                    ("typed_keys", "true"),
                    ("routing", "a"),
                ),
                *(("source", body), ("source", body), ("source_content_type", "application/json"), ("scroll", "1m")),
                *(("source_content_type", "application/yaml"), ("index", self.name()), ("indices", self.name())),
                *(("dedupe", "off"), ("dedupe", "indent"), ("preference", self.secret), ("format", "yaml")),
                *(("search_pipeline", "x"), ("project_routing", self.secret), ("filter_path", "took"), ("x", "y")),
            )
        )

    def body(self) -> Any:
        """Make a body of a search."""
        parts = (
            lambda: ("query", self.a_query(3)),
            lambda: ("query", self.a_query(2)),
            lambda: ("post_filter", self.a_query(2)),
            lambda: ("aggs", {"a": self.aggregation(2)}),
            lambda: ("aggregations", {"filter": self.aggregation(1)}),
            lambda: ("sort", [{"a.b": {"nested": {"path": "a", "filter": self.a_query(1)}}}]),
            lambda: ("highlight", {"fields": {"text": {"highlight_query": self.a_query(1)}}}),
            lambda: ("rescore", {"query": {"rescore_query": self.a_query(1)}}),
            lambda: (
                "suggest",
                {"a": {"text": "b", "phrase": {"field": "text", "collate": {"query": {"source": self.hidden()}}}}},
            ),
            lambda: ("indices_boost", [{self.name(): 2}]),
            lambda: ("runtime_mappings", {"a": {"type": "lookup", "target_index": self.name(), "input_field": "b"}}),
            lambda: ("pit", {"id": "abc"}),
            lambda: ("knn", {"field": "v", "k": 1, "query_vector": [1], "filter": self.a_query(1)}),
            lambda: ("retriever", {"standard": {"query": self.a_query(1)}}),
            lambda: ("collapse", {"field": "a", "inner_hits": {"name": "b", "sort": []}}),
            lambda: ("search_pipeline", {"request_processors": [{"filter_query": {"query": self.a_query(1)}}]}),
            lambda: ("ext", {"a": {"index": self.secret, "id": "1"}}),
            lambda: ("size", 1),
            lambda: ("_source", [self.secret]),
            lambda: ("index", self.name()),
            lambda: ("dedupe", self.random.choice(("off", "indent"))),
        )
        return dict(self.random.choice(parts)() for _ in range(self.random.choice((0, 1, 1, 2))))

    def a_query(self, depth: int) -> Any:
        """Make a query, one in three of which names an index."""
        if depth == 0 or self.one_in(3):
            return self.naming() if self.one_in(3) else {"match_all": {}}
        inner = self.a_query(depth - 1)
        return self.random.choice(
            (
                {"bool": {self.random.choice(("must", "should", "filter", "must_not", "mustNot")): [inner]}},
                {"constant_score": {"filter": inner}},
                {"dis_max": {"queries": [inner, {"match_all": {}}]}},
                {"function_score": {"query": {"match_all": {}}, "functions": [{"filter": inner, "weight": 2}]}},
                {"function_score": {"query": inner, "script_score": {"script": "1"}}},
                {"boosting": {"positive": inner, "negative": inner, "negative_boost": 0.5}},
                {"nested": {"path": "a", "query": inner, "inner_hits": {"highlight": {"highlight_query": inner}}}},
                {"script_score": {"query": inner, "script": {"source": "1"}}},
                {"more_like_this": {"like": [{"_index": self.name(), "doc": {"text": "a"}}], "fields": ["text"]}},
                {"wrapper": {"query": base64.b64encode(json.dumps(inner).encode()).decode()}},
                {"template": inner},
                {"hybrid": {"queries": [inner]}},
                {"pinned": {"organic": inner, "docs": [{"_index": self.name(), "_id": "1"}]}},
                {"span_multi": {"match": inner}},
                {"knn": {"v": {"vector": [1], "k": 1, "filter": inner}}},
                {"match_all": {}, "bool": {"must": inner}},
                {"match": {"text": {"query": "a", "wrapper": {"query": "e30="}}}},
                {"neverheardof": inner},
            )
        )

    def naming(self) -> Any:
        """Make a query that names an index."""
        name = self.name()
        return self.random.choice(
            (
                {"terms": {"id": {"index": name, "id": "1", "path": "word"}}},
                {"terms": {"_id": {"index": name, "id": "1", "path": "word", "routing": "a"}, "boost": 2}},
                {"terms": {"id": {"index": name, "path": "word", "query": {"match_all": {}}}}},
                {"terms": {"id": {"index": [name], "id": "1", "path": "word"}}},
                {"geo_shape": {"place": {"indexed_shape": {"index": name, "id": "1"}}}},
                {"shape": {"place": {"indexed_shape": {"id": "1"}}}},
                {"more_like_this": {"like": [{"_index": name, "_id": "1"}], "min_term_freq": 1, "min_doc_freq": 1}},
                {"more_like_this": {"like": "a", "unlike": {"_index": name, "_id": "1"}, "fields": ["text"]}},
                {"percolate": {"field": "q", "index": name, "id": "1"}},
                {"term": {"_index": name}},
            )
        )

    def aggregation(self, depth: int) -> Any:
        """Make an aggregation."""
        inner: Any = {"aggs": {"b": self.aggregation(depth - 1)}} if depth and self.one_in(2) else {}
        query = self.a_query(1)
        return self.random.choice(
            (
                {"filter": query, **inner},
                {"filters": {"filters": {"terms": query}}, **inner},
                {"filters": {"filters": [query]}, **inner},
                {"adjacency_matrix": {"filters": {"a": query}}},
                {"significant_terms": {"field": "a", "background_filter": query}},
                {"top_hits": {"highlight": {"highlight_query": query}}},
                {"terms": {"field": "a"}, **inner},
            )
        )

    def hidden(self) -> str:
        """Write a query as a text."""
        return json.dumps(self.naming())

    def text(self, value: Any, *, honest: bool = False) -> bytes:
        """Write JSON, sometimes in a way that two readers read differently."""
        text = json.dumps(value)
        if honest or not self.one_in(5):
            return text.encode()
        query = json.dumps({"query": self.naming()})
        escaped = text.replace("index", "\\u0069ndex").replace(
            self.secret, f"\\u{ord(self.secret[0]):04x}{self.secret[1:]}"
        )
        odd = (
            f"{text[:-1]}{',' if value else ''}{query[1:]}".encode(),
            escaped.encode(),
            f"{text}{query}".encode(),
            f"{text}\n{query}".encode(),
            f"/* {text} */ {query}".encode(),
            f"{text[:-1]}}} // {query}".encode(),
            query.replace('"', "'").encode(),
            text.encode("utf-16"),
            query.encode("utf-16-le"),
            b"\xef\xbb\xbf" + text.encode(),
            b"\0" + query.encode(),
            f"  \r\n{text}\t ".encode(),
            f"---\n{query}".encode(),
            b":)\n\x00" + query.encode(),
        )
        return self.random.choice(odd)

    def lines(self) -> bytes:
        """Write several searches."""
        text = b""
        for _ in range(self.random.choice((1, 1, 2, 3))):
            head: dict[str, Any] = {}
            for _ in range(self.random.choice((0, 1, 1, 2))):
                name = self.random.choice(
                    ("index", "index", "indices", "indice", "INDEX", "_index", "type", "preference")
                )
                target: Any = self.name() if self.one_in(5) else self.index
                head[name] = [target, self.index] if self.one_in(5) else target
            parts = [self.text(head, honest=not self.one_in(6)), self.text(self.body(), honest=not self.one_in(6))]
            if self.one_in(6):
                parts.insert(self.random.choice((0, 0, 1, 2)), b"")
            if self.one_in(10):
                parts.pop()
            text += b"".join(
                part + self.random.choice((b"\n",) * 6 + (b"\r\n", b"\r", b"\n\n", b"\x1e")) for part in parts
            )
        return text[:-1] if self.one_in(15) else text

    def packed(self, body: bytes) -> tuple[list[tuple[str, str]], bytes]:
        """Pack a body, honestly or not."""
        if not self.one_in(4):
            return [], body
        other = self.lines()
        squeezer = zlib.compressobj(wbits=-15)
        return self.random.choice(
            (
                ([("content-encoding", "gzip")], gzip.compress(body)),
                ([("content-encoding", "GZIP ")], gzip.compress(body)),
                ([("content-encoding", "gzip")], gzip.compress(body) + gzip.compress(other)),
                ([("content-encoding", "gzip")], gzip.compress(b"") + gzip.compress(other)),
                ([("content-encoding", "gzip")], gzip.compress(body) + other),
                ([("content-encoding", "gzip")], body),
                ([("content-encoding", "gzip"), ("content-encoding", "identity")], gzip.compress(body)),
                ([("content-encoding", "identity"), ("content-encoding", "gzip")], gzip.compress(other)),
                ([("content-encoding", "x-gzip")], gzip.compress(body)),
                ([("content-encoding", "gzip, gzip")], gzip.compress(gzip.compress(body))),
                ([("content-encoding", "deflate")], zlib.compress(body)),
                ([("content-encoding", "deflate")], squeezer.compress(body) + squeezer.flush()),
                ([("content-encoding", "identity")], body),
                ([("content-encoding", "")], gzip.compress(body)),
            )
        )

    def further(self) -> list[tuple[str, str]]:
        """Add headers that some readers believe."""
        if not self.one_in(8):
            return []
        return [
            self.random.choice(
                (
                    *(("x-http-method-override", "DELETE"), ("x-original-url", f"/{self.secret}/_search")),
                    *(("x-rewrite-url", f"/{self.secret}/_search"), ("content-type", "application/yaml")),
                    *(("accept", "application/yaml"), ("x-opaque-id", self.secret), ("host", "127.0.0.1")),
                )
            )
        ]


@dataclass
class Outcome:
    """The results of requests."""

    statuses: Counter[int] = field(default_factory=Counter)  # how often each was answered
    reaching: int = 0  # how many requests reached the engine
    # Those that reached another index, or ended the gateway in a fault.
    faults: list[tuple[LineRequest, object]] = field(default_factory=list)


def send(url: str, request: LineRequest) -> tuple[int, bytes]:
    """Send a request as it is; status 0 means no answer."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.putrequest(request.method, request.path, skip_host=True, skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value)
        connection.putheader("content-length", str(len(request.body)))
        connection.endheaders(request.body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (HTTPException, OSError):
        return 0, b""
    finally:
        connection.close()


@contextmanager
def recorded(**changes: Any) -> Iterator[tuple[str, Between]]:
    """The gateway before an engine that keeps what reaches it."""

    def plan(request: Request) -> Answer:
        if "_msearch" in request.path:
            return Answer(200, {"took": 1, "responses": [content] * (request.body.count(b"\n") // 2)})
        return Answer(200, content if "_search" in request.path else {})

    content = {"took": 1, "_shards": {"total": 1, "successful": 1}, "hits": {"total": {"value": 0}, "hits": []}}
    with (
        between(plan=plan) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"), index=OPEN, **changes)) as url,
    ):
        yield url, engine


def fuzz(url: str, engine: Between, grammar: Grammar, outcome: Outcome, *, documents: bool = False) -> None:
    """Send one request, and look at what reached the engine."""
    request = grammar.of_documents() if documents and grammar.one_in(2) else grammar.request()
    engine.asked.clear()
    status, content = send(url, request)
    outcome.statuses[status] += 1
    outcome.reaching += bool(engine.asked)
    names = {name for each in engine.asked for name in reached(each)} - {
        grammar.index,
        f"{grammar.index}-ibidem-overrides",
        f"{grammar.index}-ibidem-runs",  # the gateway's own look for the key of cursors; callers reach no ledger
    }
    if names:
        outcome.faults.append((request, sorted(names)))
    elif status == 500 and b"dedupe" not in unquote(request.path).encode() + request.body + unpacked(request.body):
        outcome.faults.append((request, content))


def judged(request: LineRequest) -> set[str]:
    """Return what a request would reach that nobody looks at."""
    return reached(Request(request.method, request.path, dict(request.headers), request.body))


def main() -> int:
    """Send requests for a while."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    arguments = parser.parse_args()
    grammar = Grammar(Random(arguments.seed))  # noqa: S311 - nothing is kept secret by it
    outcome, end = Outcome(), time.monotonic() + arguments.seconds
    with recorded(gateway_paths="all") as (url, engine):
        while time.monotonic() < end:
            fuzz(url, engine, grammar, outcome, documents=True)
    total = sum(outcome.statuses.values())
    statuses = ", ".join(f"{count} of {status}" for status, count in sorted(outcome.statuses.items()))
    sys.stdout.write(
        f"requests: {total} of seed {arguments.seed}, {outcome.reaching} reached the engine, "
        f"{len(outcome.faults)} where they should not ({statuses})\n"
    )
    for request, names in outcome.faults[:10]:
        sys.stdout.write(f"{names}: {request}\n")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
