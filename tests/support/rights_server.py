"""A search engine whose users read some documents and some fields only; all read ibidem's records, nobody writes."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from servers.fake_server import Answer, Between, Request, between

Json = dict[str, Any]

STRANGER = Answer(401, {"error": {"type": "security_exception", "reason": "who are you?"}, "status": 401})
FORBIDDEN = Answer(403, {"error": {"type": "security_exception", "reason": "not for you"}, "status": 403})
RECORDS = ".ibidem-"  # in the names of the indexes that hold records

SEARCHES = ("_search", "_count")
READS = (*SEARCHES, "_msearch", "_mget", "_doc", "_source")
PASSED = ("_refresh", "_pit", "point_in_time", "_mapping", "_settings", "_plugins", "plugins", "health", "_stats")
SHOWN = ("_source", "fields", "highlight")


@dataclass(frozen=True)
class Rights:
    """What a user may see."""

    documents: Json  # the clause of the documents
    hidden: frozenset[str] = field(default_factory=frozenset)  # names of the fields that are left out of answers

    def narrow(self, body: Json) -> Json:
        """Write a search so that it finds what the user may see."""
        query = {"bool": {"must": [body.get("query") or {"match_all": {}}], "filter": [self.documents]}}
        return body | {"query": query}

    def cut(self, answer: Any) -> Any:
        """Take hidden fields out of whatever an answer shows of documents."""
        if isinstance(answer, list):
            return [self.cut(each) for each in answer]
        if not isinstance(answer, dict):
            return answer
        return {name: self._cut_fields(each) if name in SHOWN else self.cut(each) for name, each in answer.items()}

    def _cut_fields(self, shown: Any, prefix: str = "") -> Any:
        if not isinstance(shown, dict):
            return shown
        names = {name: f"{prefix}{name}" for name in shown}
        return {
            name: self._cut_fields(shown[name], f"{full}.") for name, full in names.items() if full not in self.hidden
        }


@dataclass(frozen=True)
class RightsServer:
    """The server before a search engine."""

    target: str  # address of the engine
    users: Mapping[str, Rights | None]  # rights by the header `authorization`; None: all

    def plan(self, request: Request) -> Answer | Request | None:
        """Answer as the engine would answer this user."""
        name = {name.lower(): value for name, value in request.headers.items()}.get("authorization", "")
        if name not in self.users:
            return STRANGER
        rights = self.users[name]
        return request if rights is None else self._answer(request, rights)

    def _answer(self, request: Request, rights: Rights) -> Answer | Request:
        path, _, query = request.path.partition("?")
        parts = path.strip("/").split("/")
        action = next((part for part in parts if part in READS), parts[-1])
        if request.method == "HEAD" or (request.method == "GET" and action not in READS) or parts[-1] in PASSED:
            return request
        if action not in READS or (action == "_doc" and request.method != "GET"):
            return FORBIDDEN
        if RECORDS in unquote(path):
            return request
        if action in SEARCHES:
            return self._search(request, path, dict(parse_qsl(query, keep_blank_values=True)), rights)
        if action == "_msearch":
            return self._searches(request, rights)
        return self._documents(request, parts, rights)

    def _search(self, request: Request, path: str, params: dict[str, str], rights: Rights) -> Answer:
        body: Json = json.loads(request.body or b"{}")
        if "q" in params:
            body["query"] = {"query_string": {"query": params.pop("q")}}
        status, answer = self._ask("POST", f"{path}?{urlencode(params)}", json.dumps(rights.narrow(body)))
        return Answer(status, rights.cut(answer))

    def _searches(self, request: Request, rights: Rights) -> Answer:
        lines = [json.loads(line) for line in request.body.splitlines() if line.strip()]
        for at in range(0, len(lines), 2):
            if RECORDS not in json.dumps(lines[at]):
                lines[at + 1] = rights.narrow(lines[at + 1])
        written = "".join(f"{json.dumps(line)}\n" for line in lines)
        status, answer = self._ask(request.method, request.path, written)
        return Answer(status, rights.cut(answer))

    def _documents(self, request: Request, parts: list[str], rights: Rights) -> Answer:
        """Read by id: what the clause does not find is not there."""
        status, answer = self._ask(request.method, request.path, request.body.decode())
        if "docs" in answer:
            docs = [each if self._is_visible(each, rights) else _missing(each) for each in answer["docs"]]
            return Answer(status, rights.cut({"docs": docs}))
        name = {"_index": parts[0], "_id": unquote(parts[-1])}
        if status != 200 or self._is_visible(name, rights):
            return Answer(status, rights.cut(answer))
        return Answer(404, _missing(name))

    def _is_visible(self, document: Json, rights: Rights) -> bool:
        if RECORDS in document["_index"]:
            return True
        body = rights.narrow({"query": {"ids": {"values": [document["_id"]]}}, "size": 0})
        _, answer = self._ask("POST", f"/{document['_index']}/_search", json.dumps(body))
        return bool(answer.get("hits", {}).get("total", {}).get("value"))

    def _ask(self, method: str, path: str, body: str) -> tuple[int, Any]:
        connection = HTTPConnection(self.target.partition("://")[2].partition("/")[0], timeout=60)
        connection.request(method, path, body or None, {"content-type": "application/json"})
        answer = connection.getresponse()
        content = json.loads(answer.read() or b"{}")
        connection.close()
        return answer.status, content


def _missing(document: Json) -> Json:
    return {"_index": document["_index"], "_id": document["_id"], "found": False}


@contextmanager
def with_rights(target: str, users: Mapping[str, Rights | None]) -> Iterator[Between]:
    """Stand before a search engine until the block ends."""
    with between(target, RightsServer(target, users).plan) as server:
        yield server
