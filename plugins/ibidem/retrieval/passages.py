"""Passages of which each text is kept once, with what was left out and why."""

from collections.abc import Iterator, Sequence

from ibidem.grouped_search.texts import TextGroup, group_texts
from ibidem_dedupe.policy import Policy

KEY = "duplicates"
"""Under this name the metadata of a passage say which others repeat it."""


def leads_of(
    texts: Sequence[str], ids: Sequence[str], policy: Policy | None, language: str
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Yield the place of each lead, with its duplicates as metadata can hold them: `id`, `level`, `reason`.

    Args:
        texts: In the order of their rank.
        ids: Of the passages, in the same order.
        policy: The decision for a pair; None: that of a search at the level `near`.
        language: ISO 639 code of all texts; detected where it is empty.
    """
    for group in group_texts(texts, policy=policy, language=language):
        yield group.lead, duplicates_of(group, ids)


def duplicates_of(group: TextGroup, ids: Sequence[str]) -> list[dict[str, str]]:
    """Return a group's duplicates as metadata can hold them."""
    return [{"id": ids[each.place], "level": each.level, "reason": each.reason} for each in group.duplicates]
