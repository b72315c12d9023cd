"""What a query of the command line and the page means, the same on every engine."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """One word, or several in quotation marks that must stand side by side, as typed (no syntax characters)."""

    text: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a field that does not rank: `source`, `language`, `date`, `id` or `meta.<name>`.

    A date's value is a year, a month, a day, or two of them as `from..to` (either may be missing).
    """

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Query:
    """What a user asked for.

    Args:
        typed: The query as it was typed, for messages.
        all_of: Every entry must match, by any one of its phrases (`OR` joins its two neighbours).
        none_of: Phrases that must not occur.
        filters: Conditions that do not rank; several on one field: any of them.
        native: A query in the engine's own language instead, handed through (clients and gateway).
    """

    typed: str = ""
    all_of: tuple[tuple[Phrase, ...], ...] = ()
    none_of: tuple[Phrase, ...] = ()
    filters: tuple[Filter, ...] = ()
    native: Mapping[str, object] | None = None
