"""What OpenSearch and Elasticsearch say differently; all else they understand alike."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One of the two.

    Args:
        name: As in addresses, and in the names of mappings.
        product: As people write it.
        least: Oldest major version that is understood.
        open_point: Path that opens a point in time.
        open_whole: Parameters with which none is opened that lacks a part of the index.
        opened_as: Where the answer holds its id.
        close_point: Path that closes one.
        closed_as: Where the request holds its id.
        offset_limit: Option of a highlight that keeps a long text from failing the request.
    """

    name: str
    product: str
    least: int
    open_point: str
    open_whole: Mapping[str, str]
    opened_as: str
    close_point: str
    closed_as: str
    offset_limit: str
