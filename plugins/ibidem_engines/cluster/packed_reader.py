"""Packed values of documents that were read by id: they are not in `_source`, and only a search reads doc values."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.ranking import read_binary
from ibidem_engines.reindex import SourceDocument

AT_ONCE = 500
State = tuple[str, str, str, int, int]
"""Index, id and routing of a document, sequence number and primary term of its state."""


def with_packed(
    documents: Sequence[SourceDocument], search: Callable[[dsl.Clause], Any], refresh: Callable[[], None]
) -> list[SourceDocument]:
    """Fill in the packed values of signed documents whose `_source` has none, as indexes of before have.

    One that another writer changes meanwhile keeps none: it counts as unsigned, and is signed again.

    Args:
        documents: As they were read by id, each in its latest state.
        search: Asks the index.
        refresh: Lets searches find what was written of late; only called where they lack a state that was read.
    """
    without = [each for each in documents if each.schema and not each.packed]
    known: dict[State, bytes] = {}
    for turn in range(2):
        unseen = [each for each in without if _state(each) not in known]
        if unseen and turn:
            refresh()
        for at in range(0, len(unseen), AT_ONCE):
            known |= _read(unseen[at : at + AT_ONCE], search)
    return [
        each if each.packed else dataclasses.replace(each, packed=known.get(_state(each), b"")) for each in documents
    ]


def _read(documents: Sequence[SourceDocument], search: Callable[[dsl.Clause], Any]) -> dict[State, bytes]:
    names = [(each.name.index, each.name.id) for each in documents]
    body = {
        **dsl.by_name(names),
        "_source": False,
        "docvalue_fields": [dsl.PACKED],
        "seq_no_primary_term": True,
    }
    return {_seen(hit): read_binary(hit, dsl.PACKED) or b"" for hit in search(body)["hits"]["hits"]}


def _state(document: SourceDocument) -> State:
    name = document.name
    return name.index, name.id, name.routing, *document.state


def _seen(hit: Mapping[str, Any]) -> State:
    return hit["_index"], hit["_id"], hit.get("_routing", ""), hit["_seq_no"], hit["_primary_term"]
