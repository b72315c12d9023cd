"""Passages without duplicates, each with the duplicates that were left out and their reasons."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from ibidem.grouped_search.explanations import reason
from ibidem.grouped_search.passage import Passage
from ibidem.grouped_search.response import DUPLICATES
from ibidem.grouped_search.texts import Duplicate, group_texts
from ibidem_core.address import OURS
from ibidem_dedupe.policy import Policy
from ibidem_ingest.dates import interval

# Under this name the metadata of a passage say which others repeat it or overlap it in their document.
KEY = "duplicates"


def with_duplicates(metadata: Mapping[str, Any], duplicates: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the metadata of a passage with its duplicates, and without its signatures.

    >>> with_duplicates({"title": "Lease", "ibidem": {"packed": "…"}}, [])
    {'title': 'Lease', 'duplicates': []}
    """
    return {**{name: value for name, value in metadata.items() if name != OURS}, KEY: duplicates}


def members(hit: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the duplicates inside a collapsed lead, as metadata values."""
    inner = hit.get("inner_hits", {}).get(DUPLICATES, {}).get("hits", {}).get("hits", ())
    return [member(each["_id"], each["_dedupe"], hit["_id"]) for each in inner]


def member(name: str, mark: Mapping[str, Any], lead: str) -> dict[str, str]:
    """Return one duplicate of a search as metadata; for a neighbour as `as_metadata` does."""
    found = {"id": name, "level": mark["level"], "reason": reason(mark["why"]) if mark.get("why") else ""}
    if "side" in mark:
        found |= {"side": mark["side"]} | ({"of": mark["of"]} if mark["of"] != lead else {})
    return found


def passage(text: str, metadata: Mapping[str, object], document: object, date_key: str) -> Passage:
    """Return a passage of a framework, whose metadata may hold values of any type."""
    title = metadata.get("title")
    return Passage(
        text,
        document if isinstance(document, str) else "",
        read_date(metadata.get(date_key)),
        title=title if isinstance(title, str) else "",
    )


def read_date(value: object) -> str:
    """Return a date in ISO 8601; empty if the value is not a date.

    >>> read_date(date(2024, 5, 1)), read_date("2024-05"), read_date("May 1, 2024"), read_date(20240501)
    ('2024-05-01', '2024-05', '', '')
    """
    if not isinstance(value, date | str):
        return ""
    try:
        interval(str(value))
    except ValueError:
        return ""
    return str(value)


def leads_of(
    passages: Sequence[Passage],
    known: Sequence[tuple[str, Mapping[str, object]]],
    policy: Policy | None,
    language: str,
    keep: str,
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Yield the position of each lead, with its duplicates as metadata values."""
    ids = [name for name, _ in known]
    for group in group_texts(passages, policy=policy, language=language, keep=keep):
        lead, metadata = known[group.lead]
        found = [*(as_metadata(each, group.lead, ids) for each in group.duplicates), *noted(metadata)]
        for each in group.duplicates:
            found += left_with(*known[each.place])
        by_id: dict[str, dict[str, str]] = {}
        for one in found:
            by_id.setdefault(one["id"], one)
        by_id.pop(lead, None)
        yield group.lead, [*by_id.values()]


def noted(metadata: Mapping[str, object]) -> list[dict[str, str]]:
    """Return the duplicates in the metadata of a passage; none if the value has another type.

    >>> noted({"duplicates": [{"id": "b", "level": "near", "reason": ""}]}), noted({"duplicates": "two"})
    ([{'id': 'b', 'level': 'near', 'reason': ''}], [])
    """
    value = metadata.get(KEY)
    if not isinstance(value, list):
        return []
    return [dict(each) for each in value if isinstance(each, Mapping) and isinstance(each.get("id"), str)]


def left_with(name: str, metadata: Mapping[str, object]) -> list[dict[str, str]]:
    """Return the duplicates in the metadata of a replaced passage, with `of` set to this passage."""
    return [{**each, "of": each.get("of", name)} for each in noted(metadata)]


def as_metadata(duplicate: Duplicate, lead: int, ids: Sequence[str]) -> dict[str, str]:
    """Return `id`, `level` and `reason`; `side` for a neighbour; `of` if it belongs to another text than the lead."""
    found = {"id": ids[duplicate.place], "level": duplicate.level, "reason": duplicate.reason}
    if duplicate.side:
        found["side"] = duplicate.side
    if duplicate.of != lead:
        found["of"] = ids[duplicate.of]
    return found
