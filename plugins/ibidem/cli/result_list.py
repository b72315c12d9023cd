"""A response as a list that a lawyer could read: leads with their duplicates indented below, each with its reason.

```
 1  Title of the lead
    1987-02-26 · Reuter · reut-113
    … a passage with the *words* of the query …
    └ near · Title of the duplicate
      1987-02-27 · Reuter · reut-204 · 57 of 60 rare terms shared, 1 day apart
      differs: … profit of [12.1 → 12.3] mln dlrs …

212 documents match; 500 examined; 74 groups; showing 1-10
```
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from ibidem.cli.marked import harmless, marked, one_line, spelled
from ibidem.differing import difference
from ibidem.reasons import counted, reason

Hit = Mapping[str, Any]
Response = Mapping[str, Any]

PASSAGE = 300
LATE_SHOWN = 10


def show(response: Response, console: Console, first: int = 1) -> None:
    """Print a response.

    Args:
        response: As `presentation.md` lays it down, with `explain`.
        console: Where to print.
        first: The number of the page's first group.
    """
    styled = console.color_system is not None and not console.no_color
    for part in [*late(response["dedupe"]), *entries(response["hits"]["hits"], first, styled=styled)]:
        console.print(part)
    console.print(Text(account(response, first), "account"))


def entries(hits: Sequence[Hit], first: int, *, styled: bool) -> Iterator[RenderableType]:
    """Yield the parts of the list: each lead, and below it its duplicates."""
    numbers = count(first)
    lead: Hit = {}
    for hit in hits:
        if hit.get("_dedupe", {}).get("indent", 0):
            yield from duplicate(hit, lead)
            continue
        if lead:
            yield Text()
        lead = hit
        yield from leading(hit, next(numbers), styled=styled)
        for hidden in hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ()):
            yield from duplicate(hidden, lead)
    yield Text()


def leading(hit: Hit, number: int, *, styled: bool) -> Iterator[RenderableType]:
    """Yield the lines of a lead: number and title, whence it is, a passage, and how many are not shown."""
    title = marked(title_of(hit), styled=styled)
    title.stylize("title")
    width = max(2, len(str(number)))
    yield Text.assemble((f"{number:>{width}}  ", "place"), title)
    yield below(Text(about(hit), "about"), width + 2)
    if passage := snippet(hit):
        yield below(marked(passage, styled=styled), width + 2)
    hidden = hit.get("_dedupe", {}).get("hidden", 0)
    if hidden:
        yield below(Text(f"+ {counted(hidden, 'duplicate')}", "level"), width + 2)


def duplicate(hit: Hit, lead: Hit) -> Iterator[RenderableType]:
    """Yield the lines of a duplicate: level and title, whence it is and why it stands here, what differs."""
    mark = hit["_dedupe"]
    yield below(one_line(Text.assemble("└ ", (mark["level"], "level"), " · ", harmless(title_of(hit)))), 4)
    why = reason(mark["why"]) if mark.get("why") else ""
    yield below(Text(" · ".join(part for part in (about(hit), why) if part), "about"), 6)
    if line := differs(hit, lead):
        yield below(one_line(line), 6)


def differs(hit: Hit, lead: Hit) -> Text | None:
    """Return the line that tells what differs from the lead, or None when no word does."""
    pieces = difference(text_of(lead), text_of(hit))
    return Text.assemble(("differs: ", "about"), spelled(pieces)) if pieces else None


def below(line: Text, columns: int) -> Padding:
    """Indent a line, and what it is wrapped into."""
    return Padding(line, (0, 0, 0, columns))


def title_of(hit: Hit) -> str:
    """Return a hit's title with the query's words marked, or its id when it has none."""
    found = hit.get("highlight", {}).get("title") or [hit["_source"].get("title")]
    return str(found[0] or hit["_id"])


def text_of(hit: Hit) -> str:
    """Return a hit's text."""
    return str(hit.get("_source", {}).get("text", ""))


def about(hit: Hit) -> str:
    """Return date, source and id of a hit, as far as it has them."""
    source = hit["_source"]
    named = (source.get("date"), source.get("source"), hit["_id"])
    return " · ".join(harmless(str(part)) for part in named if part)


def snippet(hit: Hit) -> str:
    """Return the best passage of a hit, cut to a few lines."""
    passages = hit.get("highlight", {}).get("text") or [text_of(hit)[:PASSAGE]]
    return str(passages[0])


def late(account: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the lines about documents that belong to groups of earlier pages."""
    found = account.get("late") or []
    if not found:
        return
    yield Text(f"{counted(len(found), 'document')} found later, of groups on earlier pages:", "level")
    for one in found[:LATE_SHOWN]:
        yield below(Text(f"{harmless(one['id'])} (page {one['page']})", "about"), 4)
    if len(found) > LATE_SHOWN:
        yield below(Text(f"… {len(found) - LATE_SHOWN:,} more", "about"), 4)
    yield Text()


def account(response: Response, first: int) -> str:
    """Return the account of a response as one line."""
    told = response["dedupe"]
    documents, groups = told["documents"], told["groups"]
    shown = sum(1 for hit in response["hits"]["hits"] if not hit.get("_dedupe", {}).get("indent", 0))
    parts = [f"{counted(documents['matched'], 'document')} match", f"{documents['in_window']:,} examined"]
    if told["mode"] != "off":
        parts.append(counted(groups["in_window"], "group"))
    parts += [f"{told[name]:,} {words}" for name, words in REMARKS.items() if told.get(name)]
    parts.append(f"showing {first}–{first + shown - 1}" if shown else "showing none")  # noqa: RUF001 - a range
    return "; ".join(parts)


REMARKS = {
    "unsigned": "without signatures",
    "mixed_tables": "signed with another idf table",
}
"""Counts of the account that are named when they are not zero."""
