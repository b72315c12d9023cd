"""The hits of an answer as ours."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_engines.dsl import PACKED
from ibidem_engines.engine import Hit
from ibidem_engines.writing import order_of
from ibidem_ingest.signatures.packed import cut


def read_hits(answer: Mapping[str, Any]) -> list[Hit]:
    """Read the hits of an answer, in its order."""
    return [_hit(hit) for hit in answer["hits"]["hits"]]


def all_named(hits: Sequence[Hit]) -> bool:
    """Tell whether each hit held its id, beside or in its packed value; a hit that did not has an empty one."""
    return all(hit.id for hit in hits)


def _hit(hit: Mapping[str, Any]) -> Hit:
    packed = _packed(hit)
    return Hit(
        hit["_index"],
        hit.get("_id") or _id_of(packed),
        hit.get("_score") or 0.0,
        packed,
        order_of(hit.get("_seq_no", -1)),
        tuple(hit.get("sort", ())),
    )


def _packed(hit: Mapping[str, Any]) -> bytes | None:
    """Decode the packed value: Elasticsearch writes base64 as usual, OpenSearch without padding and safe for URLs."""
    values = hit.get("fields", {}).get(PACKED)
    return base64.b64decode(values[0].replace("-", "+").replace("_", "/") + "==") if values else None


def _id_of(packed: bytes | None) -> str:
    """Read the id out of a packed value; empty when it is damaged or of an unknown scheme."""
    parts = cut(packed) if packed else None
    return parts.name.decode() if parts else ""
