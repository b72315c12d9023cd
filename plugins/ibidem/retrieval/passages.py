"""Passages of which each text is kept once, with what was left out and why."""

from collections.abc import Iterator, Mapping, Sequence

from ibidem.grouped_search.passage import Passage
from ibidem.grouped_search.texts import Duplicate, TextGroup, group_texts
from ibidem_dedupe.policy import Policy

KEY = "duplicates"
"""Under this name the metadata of a passage say which others repeat it or overlap it in their document."""


def passage(text: str, metadata: Mapping[str, object], document: object, date_key: str) -> Passage:
    """Return a passage of a framework; what its metadata hold may be of any type, and is taken where it is text.

    Args:
        text: Its text.
        metadata: What the framework knows of it.
        document: Names its document.
        date_key: The key of the metadata with its date; empty: dates are not read.
    """
    date = metadata.get(date_key, "") if date_key else ""
    return Passage(text, document if isinstance(document, str) else "", str(date or ""))


def leads_of(
    passages: Sequence[Passage], ids: Sequence[str], policy: Policy | None, language: str, keep: str
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Yield the place of each lead, with the others of its group as metadata can hold them.

    Args:
        passages: In the order of their rank.
        ids: Of the passages, in the same order.
        policy: The decision for a pair; None: that of a search at the level `near`.
        language: ISO 639 code of all texts; detected where it is empty.
        keep: Which passage leads: `rank`, `earliest`, `latest` or `longest`.
    """
    for group in group_texts(passages, policy=policy, language=language, keep=keep):
        yield group.lead, duplicates_of(group, ids)


def duplicates_of(group: TextGroup, ids: Sequence[str]) -> list[dict[str, str]]:
    """Return a group's duplicates and neighbours as metadata can hold them."""
    return [as_metadata(each, group.lead, ids) for each in group.duplicates]


def as_metadata(duplicate: Duplicate, lead: int, ids: Sequence[str]) -> dict[str, str]:
    """Return `id`, `level` and `reason`; `side` of a neighbour; `of` where it belongs to another than the lead."""
    found = {"id": ids[duplicate.place], "level": duplicate.level, "reason": duplicate.reason}
    if duplicate.side:
        found["side"] = duplicate.side
    if duplicate.of != lead:
        found["of"] = ids[duplicate.of]
    return found
