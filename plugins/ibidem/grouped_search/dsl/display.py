"""Display of a hit: the fields that the layer additionally requests, and removes from the response."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.dsl import PACKED
from ibidem_engines.cluster.groups import GROUP

OF_FIELDS = ("docvalue_fields", "fields")  # parts of a body that name fields, with wildcards or not

STATE = ("_seq_no", "_primary_term")


def with_state(display: Mapping[str, Any]) -> Json:
    """Request the packed value and the sequence number of a hit, which identify it in a window.

    >>> with_state({"_source": False})
    {'_source': False, 'seq_no_primary_term': True, 'docvalue_fields': ['ibidem.packed']}
    """
    fields = display.get("docvalue_fields") or []
    if not isinstance(fields, list | tuple):  # the server reports the error
        return dict(display)
    return {**display, "seq_no_primary_term": True, "docvalue_fields": [*fields, PACKED]}


def as_shown(hit: Mapping[str, Any], display: Mapping[str, Any]) -> Json:
    """Return a hit without the layer's own fields.

    >>> as_shown({"_id": "a", "_seq_no": 4, "sort": [1], "fields": {"ibidem.packed": ["AA"]}}, {})
    {'_id': 'a'}
    """
    patterns = list(requested_fields(display))
    fields = {
        name: values
        for name, values in hit.get("fields", {}).items()
        if name not in (PACKED, GROUP) or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    asks_for_state = str(display.get("seq_no_primary_term", "")).lower() == "true"
    unshown = {"sort", "fields", *(() if asks_for_state else STATE)}
    shown = {name: part for name, part in hit.items() if name not in unshown}
    return shown | ({"fields": fields} if fields else {})


def requested_fields(display: Mapping[str, Any]) -> Iterator[str]:
    """Return the requested fields."""
    for part in OF_FIELDS:
        for each in display.get(part) or ():
            name = each.get("field") if isinstance(each, Mapping) else each
            if isinstance(name, str):
                yield name
