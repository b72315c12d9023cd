"""Indexes of tests in a search engine that runs: removed, or emptied for the next test."""

import json
from http.client import HTTPConnection
from typing import Any

from ibidem_engines.cluster.index import template


def ask(address: str, method: str, path: str, body: object = None, *, seconds: float = 60.0) -> Any:
    """Send a request past the engine under test, to the first node, and return the answer's JSON; what fails raises."""
    data = body if body is None or isinstance(body, str) else json.dumps(body)
    first = address.partition("://")[2].partition("/")[0].partition(",")[0]
    connection = HTTPConnection(first, timeout=seconds)
    connection.request(method, path, data, {"content-type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status >= 400 and "ignore_unavailable" not in path:
        raise RuntimeError(f"{method} {path}: {content!r}")
    return json.loads(content) if content else None


def create_index(address: str, index: str, **settings: object) -> None:
    """Create an index as ibidem does, with settings of its own: those of a template give way to ibidem's."""
    body = template("full")
    body["settings"]["index"] |= {"auto_expand_replicas": False, "number_of_replicas": 0, **settings}
    ask(address, "PUT", f"/{index}", body)


def names(index: str) -> str:
    """List an index, its record indexes and that of its signatures."""
    return f"{index},.ibidem-{index},.ibidem-{index}-work,.ibidem-{index}-signatures"


def remove_indices(address: str, index: str = "news") -> None:
    ask(address, "DELETE", f"/{names(index)}?ignore_unavailable=true")


def empty_indices(address: str, index: str = "news") -> None:
    """Remove every document of an index and its record indexes, as far as they are there."""
    ask(address, "POST", f"/{names(index)}/_refresh?ignore_unavailable=true")
    body = {"size": 10_000, "_source": False}
    hits = ask(address, "POST", f"/{names(index)}/_search?ignore_unavailable=true", body)["hits"]["hits"]
    lines = [json.dumps({"delete": {"_index": hit["_index"], "_id": hit["_id"]}}) + "\n" for hit in hits]
    if lines:
        ask(address, "POST", "/_bulk?refresh=true", "".join(lines))
