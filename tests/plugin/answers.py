"""The same search through the plugin and through the wrapped client, which is the oracle."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]
# What the two need not agree on.
ITS_OWN = ("took_ms", "cursor", "tables", "by", "grouper", "rule", "why")


def through_plugin(client: Any, index: str, body: Mapping[str, Any], options: Mapping[str, Any], **params: Any) -> Json:
    """Ask the cluster itself."""
    search_body = dict(body) | {"ext": {"ibidem": dict(options)}}
    return take_parts(run_search(client, index, search_body, params))


def through_layer(client: Any, index: str, body: Mapping[str, Any], options: Mapping[str, Any], **params: Any) -> Json:
    """Ask the wrapped client."""
    parameters = {name if name == "dedupe" else f"dedupe_{name}": value for name, value in options.items()}
    return take_parts(run_search(client, index, dict(body), params, **parameters))


def run_search(client: Any, index: str, body: Json, params: Mapping[str, Any], **arguments: Any) -> Json:
    """Search as the client's makers have it."""
    where = {} if "pit" in body else {"index": index}
    if hasattr(client, "perform_request"):
        from_ = {"from_": body.pop("from")} if "from" in body else {}
        source = {"source": body.pop("_source")} if "_source" in body else {}
        return dict(client.search(**where, **body, **from_, **source, **params, **arguments))
    return dict(client.search(**where, body=body, params=dict(params), **arguments))


def read_account(answer: Json) -> Json:
    """Return the account of a grouped answer, where each engine has it."""
    account: Json = answer.get("dedupe") or answer["ext"]["ibidem"]
    return account


def take_parts(answer: Json) -> Json:
    """Return an answer without what differs from one to the next."""
    left = {name: part for name, part in answer.items() if name not in ("took", "_shards", "ext", "dedupe", "pit_id")}
    return left | {"account": {name: part for name, part in read_account(answer).items() if name not in ITS_OWN}}


def differences(expected: Any, actual: Any, place: str = "") -> Iterator[str]:
    """Say where two answers differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted({*expected, *actual}):
            yield from differences(expected.get(name, "missing"), actual.get(name, "missing"), f"{place}.{name}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{place}: {len(expected)} and {len(actual)} entries"
        for at, (value, counterpart) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(value, counterpart, f"{place}[{at}]")
    elif expected != actual:
        yield f"{place}: {expected!r} and {actual!r}"


def read_hits(body: str | bytes) -> str:
    """Return which documents an answer shows, and how they are marked."""
    return json.dumps([[hit["_index"], hit["_id"], hit["_dedupe"]] for hit in json.loads(body)["hits"]["hits"]])
