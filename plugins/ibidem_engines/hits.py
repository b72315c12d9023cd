"""The hits of an answer as ours."""

from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_engines.dsl import LONG, PACKED
from ibidem_engines.engine import Hit
from ibidem_engines.writing import order_of
from ibidem_ingest.signatures.packed import id_of


def read_hits(answer: Mapping[str, Any]) -> list[Hit]:
    """Read the hits of an answer, in its order."""
    return [_hit(hit) for hit in answer["hits"]["hits"]]


def all_named(hits: Sequence[Hit]) -> bool:
    """Tell whether each hit held its id, beside or in its packed value; a hit that did not has an empty one."""
    return all(hit.id for hit in hits)


def in_order(hits: Sequence[Hit]) -> list[Hit]:
    """Put hits in the order of a ranking by score: equal ones by index and id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.index, hit.id))


def _hit(hit: Mapping[str, Any]) -> Hit:
    packed = read_binary(hit, PACKED)
    name = hit.get("_id") or (id_of(packed) if packed else "")
    return Hit(
        hit["_index"],
        name,
        hit.get("_score") or 0.0,
        packed,
        order_of(hit["_seq_no"]) if "_seq_no" in hit else 0,
        tuple(hit["sort"]) if "sort" in hit else (),
    )


def read_long(answer: Mapping[str, Any]) -> dict[tuple[str, str], bytes]:
    """Read the long signatures of an answer's hits, by index and id."""
    found = {(hit["_index"], hit["_id"]): read_binary(hit, LONG) for hit in answer["hits"]["hits"]}
    return {name: value for name, value in found.items() if value}


def read_binary(hit: Mapping[str, Any], field: str) -> bytes | None:
    """Decode a binary value: Elasticsearch writes base64 as usual, OpenSearch without padding and safe for URLs.

    One that is no base64 counts as missing, so its document as unsigned.
    """
    values = hit.get("fields", {}).get(field)
    try:
        return a2b_base64(f"{values[0]}==".replace("-", "+").replace("_", "/")) if values else None
    except ValueError:
        return None
