"""The top of a ranking: hits with packed signatures, equal scores by index and id, once more where some have no id."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ibidem_engines import dsl
from ibidem_engines.engine import Hit
from ibidem_engines.exchange import Exchange
from ibidem_engines.hits import all_named, in_order, read_hits
from ibidem_engines.target import Target


@dataclass(frozen=True, slots=True)
class Ranked:
    """One answer.

    Args:
        answer: As the server gave it.
        hits: Its hits in rank order.
    """

    answer: Mapping[str, Any]
    hits: list[Hit]


def ranked(target: Target, body: Mapping[str, Any], most: int, *, ids: bool = False) -> Exchange[Ranked]:
    """Search for a window of `size` hits.

    Without a sort some more hits are asked for, so that equal scores are put in order here, unless even they all
    score as the last one: a hit that was left out might then stand before one that was not.

    Args:
        target: Where.
        body: A request for packed signatures.
        most: The largest window that the index allows.
        ids: Whether the engine's own ids are asked for at once.
    """
    size = body["size"]
    if ids:
        body = dsl.with_ids(body)
    if "sort" in body:
        return (yield from window(target, body))
    asked = min(most, size + max(20, size // 10))
    found = yield from window(target, {**body, "size": asked})
    hits = found.hits
    if len(hits) < asked or hits[-1].score != hits[size - 1].score:
        return replace(found, hits=in_order(hits)[:size])
    found = yield from window(target, dsl.in_full_order(body, size))
    return replace(found, hits=in_order([replace(hit, sort=()) for hit in found.hits]))


def window(target: Target, body: Mapping[str, Any]) -> Exchange[Ranked]:
    """Search for packed signatures, once more where some hit has none and so no id."""
    answer = yield target.search(body)
    hits = read_hits(answer)
    if not all_named(hits):
        answer = yield target.search(dsl.with_ids(body))
        hits = read_hits(answer)
    return Ranked(answer, hits)
