"""Records next to an index, validated when parsed, since other programs may have written them."""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from ibidem_core.errors import DamagedRecord

Kind = TypeVar("Kind")

REMOVE = "another program has changed it; correct it, or remove it"  # remedy for a damaged record


def parse_record(kind: type[Kind], values: Mapping[str, object]) -> Kind:
    """Parse a record."""
    if kind not in _ADAPTERS:  # creating a validator takes longer than parsing
        _ADAPTERS[kind] = TypeAdapter(kind)
    try:
        read: Kind = _ADAPTERS[kind].validate_json(orjson.dumps(values), strict=True)
    except (ValidationError, TypeError) as error:
        raise DamagedRecord(
            f"a record of kind {kind.__name__} stored with the index is damaged: {_describe(error)}",
            REMOVE,
        ) from error
    return read


def _describe(error: ValidationError | TypeError) -> str:
    """Return the invalid field."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
