"""What a response says, for people: which hits belong together, why, and what the account counts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ibidem.reasons import counted, reason

Hit = Mapping[str, Any]
Response = Mapping[str, Any]


def groups(hits: Sequence[Hit]) -> Iterator[tuple[Hit, list[Hit]]]:
    """Yield each lead with the duplicates that follow it; those inside a collapsed lead stay closed."""
    lead: Hit | None = None
    duplicates: list[Hit] = []
    for hit in hits:
        if is_duplicate(hit):
            duplicates.append(hit)
            continue
        if lead is not None:
            yield lead, duplicates
        lead, duplicates = hit, []
    if lead is not None:
        yield lead, duplicates


def is_duplicate(hit: Hit) -> bool:
    """Tell whether a hit follows a lead."""
    return bool(hit.get("_dedupe", {}).get("indent", 0))


def not_shown(lead: Hit, duplicates: Sequence[Hit]) -> int:
    """Return how many members of a group are not in the list."""
    return int(lead.get("_dedupe", {}).get("size", 1)) - 1 - len(duplicates)


def counted_besides(lead: Hit) -> str:
    """Say how many copies of a lead were counted and not read, or nothing."""
    count = lead.get("_dedupe", {}).get("only_counted", 0)
    return f"{counted(count, 'further copy', 'further copies')} matched and counted, not listed" if count else ""


def called(hit: Hit) -> str:
    """Return the title or id by which another document speaks of a hit, on one line."""
    return " ".join(str(hit["_source"].get("title") or hit["_id"]).split())


def because(mark: Mapping[str, Any], lead: str = "") -> str:
    """Say why a duplicate is one, and what else is to be known of it.

    Args:
        mark: What the layer says of it.
        lead: What its lead is called; may be empty.
    """
    said = [f": {reason(mark['why'], lead)}"] if mark.get("why") else []
    said += [f"; {note}" for note in mark.get("notes", ())]
    if mark.get("outside"):
        said.append("; it does not match the query")
    return "".join(said)


def account_line(response: Response, first: int) -> str:
    """Return the account of a response as one line."""
    told = response["dedupe"]
    documents, grouped = told["documents"], told["groups"]
    shown = sum(not is_duplicate(hit) for hit in response["hits"]["hits"])
    matched = documents["matched"]
    parts = [f"{counted(matched, 'document')} match{'es' * (matched == 1)}", f"{documents['in_window']:,} examined"]
    if told["mode"] != "off":
        parts.append(counted(grouped["in_window"], "group"))
    parts += [f"{told[name]:,} {words}" for name, words in REMARKS.items() if told.get(name)]
    if told.get("unsigned") and told["unsigned"] == documents["in_window"]:
        parts[-1] += " (ibidem backfill signs what an index holds)"
    if told.get("capped"):
        parts.append(f"look-up cut for {counted(len(told['capped']), 'lead')}")
    if told.get("limited"):
        parts.append("no window reaches the rest")
    parts.append(f"showing {first}–{first + shown - 1}" if shown else "showing none")  # noqa: RUF001 - a range
    return "; ".join(parts)


def advice(response: Response) -> list[str]:
    """Say what of the query was not understood, and what may have been meant."""
    told = response["dedupe"]
    better = told.get("did_you_mean")
    return [*told.get("not_understood", ()), *([f"did you mean: {better}"] if better else [])]


REMARKS = {
    "unsigned": "without signatures",
    "crowded": "not compared with all leads that share a value with them",
    "mixed_tables": "signed with another idf table",
}
"""Counts of the account that are named when they are not zero."""
