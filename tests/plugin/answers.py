"""The same search through the plugin and through the wrapped client, which is the oracle."""

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]
ITS_OWN = ("took_ms", "cursor", "tables", "by")
"""What the two need not agree on."""


def through_plugin(client: Any, index: str, body: Mapping[str, Any], asked: Mapping[str, Any], **params: Any) -> Json:
    """Ask the cluster itself."""
    whole = dict(body) | {"ext": {"ibidem": dict(asked)}}
    return told(searched(client, index, whole, params))


def through_layer(client: Any, index: str, body: Mapping[str, Any], asked: Mapping[str, Any], **params: Any) -> Json:
    """Ask the wrapped client."""
    given = {name if name == "dedupe" else f"dedupe_{name}": value for name, value in asked.items()}
    return told(searched(client, index, dict(body), params, **given))


def searched(client: Any, index: str, body: Json, params: Mapping[str, Any], **given: Any) -> Json:
    """Search as the client's makers have it."""
    where = {} if "pit" in body else {"index": index}
    if hasattr(client, "perform_request"):
        from_ = {"from_": body.pop("from")} if "from" in body else {}
        source = {"source": body.pop("_source")} if "_source" in body else {}
        return dict(client.search(**where, **body, **from_, **source, **params, **given))
    return dict(client.search(**where, body=body, params=dict(params), **given))


def told(answer: Json) -> Json:
    """Return an answer without what differs from one to the next."""
    left = {name: part for name, part in answer.items() if name not in ("took", "_shards", "ext", "dedupe", "pit_id")}
    account = answer.get("dedupe") or answer["ext"]["ibidem"]
    return left | {"account": {name: part for name, part in account.items() if name not in ITS_OWN}}


def differences(wanted: Any, found: Any, place: str = "") -> Iterator[str]:
    """Say where two answers differ."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in sorted({*wanted, *found}):
            yield from differences(wanted.get(name, "missing"), found.get(name, "missing"), f"{place}.{name}")
    elif isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            yield f"{place}: {len(wanted)} and {len(found)} entries"
        for at, (one, other) in enumerate(zip(wanted, found, strict=False)):
            yield from differences(one, other, f"{place}[{at}]")
    elif wanted != found:
        yield f"{place}: {wanted!r} and {found!r}"
