"""A response as a list that a lawyer could read: leads with their duplicates indented below, each with its reason.

```
 1  Title of the lead
    1987-02-26 · Reuter · reut-113
    … a passage with the *words* of the query …
    └ Title of the duplicate
      1987-02-27 · Reuter · reut-204
      near: 57 of 60 rare terms shared, 1 day apart
      differs: … profit of [12.1 → 12.3] mln dlrs …

74 groups in the first 500 of 1,212 results; showing 1-10
```
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from ibidem.cli.console import Indented
from ibidem.cli.terminal_text import format_difference, highlight, one_line, sanitize
from ibidem.comparison.word_diff import word_diff
from ibidem.grouped_search.explanations import (
    account_line,
    advice,
    duplicate_reason,
    format_count,
    groups,
    hit_title,
    not_shown,
    uncounted_copies,
)

Hit = Mapping[str, Any]
Response = Mapping[str, Any]

ASK = ", shown with --max-per-group"
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
    for part in [*late_lines(response["dedupe"]), *entries(response["hits"]["hits"], first, styled=styled)]:
        console.print(part)
    for line in advice(response):
        console.print(Text(sanitize(line), "level"))
    console.print(Text(account_line(response, first), "account"))


def entries(hits: Sequence[Hit], first: int, *, styled: bool) -> Iterator[RenderableType]:
    """Yield the parts of the list: each lead, and below it its duplicates."""
    for number, (lead, duplicates) in enumerate(groups(hits), first):
        yield from lead_lines(lead, number, styled=styled)
        for hit in duplicates:
            yield from duplicate(hit, lead)
        if hidden := not_shown(lead, duplicates):
            more = f"{format_count(hidden, 'more duplicate')}{ASK}" if duplicates else format_count(hidden, "duplicate")
            yield Indented(Text(f"+ {more}", "level"), 4)
        if further := uncounted_copies(lead):
            yield Indented(Text(f"+ {further}", "level"), 4)
        yield Text()


def lead_lines(hit: Hit, number: int, *, styled: bool) -> Iterator[RenderableType]:
    """Yield the lines of a lead: number and title, whence it is, a passage."""
    title = highlight(title_of(hit), styled=styled)
    title.stylize("title")
    width = max(2, len(str(number)))
    yield Indented(title, width + 2, f"{number:>{width}}")
    yield Indented(Text(hit_facts(hit), "about"), width + 2)
    if passage := snippet(hit):
        yield Indented(highlight(passage, styled=styled), width + 2)


def duplicate(hit: Hit, lead: Hit) -> Iterator[RenderableType]:
    """Yield the lines of a duplicate: title, whence it is, level and reason, what differs."""
    mark = hit["_dedupe"]
    yield Indented(one_line(Text(sanitize(title_of(hit)))), 6, "    └")
    yield Indented(Text(hit_facts(hit), "about"), 6)
    yield Indented(
        Text.assemble((str(mark["level"] or "joined"), "level"), sanitize(duplicate_reason(mark, hit_title(lead)))), 6
    )
    if mark["level"] != "partial" and (line := difference_line(hit, lead)):
        yield Indented(one_line(line), 6)


def difference_line(hit: Hit, lead: Hit) -> Text | None:
    """Return the line that tells what differs from the lead, or None when no word does."""
    pieces = word_diff(text_of(lead), text_of(hit))
    return Text.assemble(("differs: ", "about"), format_difference(pieces)) if pieces else None


def title_of(hit: Hit) -> str:
    """Return a hit's title with the query's words marked, or its id when it has none."""
    titles = hit.get("highlight", {}).get("title") or [hit["_source"].get("title")]
    return str(titles[0] or hit["_id"])


def text_of(hit: Hit) -> str:
    """Return a hit's text."""
    return str(hit.get("_source", {}).get("text", ""))


def hit_facts(hit: Hit) -> str:
    """Return date, source and id of a hit, as far as it has them."""
    source = hit["_source"]
    named = (source.get("date"), source.get("source"), hit["_id"])
    return " · ".join(sanitize(str(part)) for part in named if part)


def snippet(hit: Hit) -> str:
    """Return the best passage of a hit, cut to a few lines."""
    passages = hit.get("highlight", {}).get("text") or [text_of(hit)[:PASSAGE]]
    return str(passages[0])


def late_lines(account: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the lines about documents that belong to groups of earlier pages."""
    late = account.get("late") or []
    if not late:
        return
    yield Text(f"{format_count(len(late), 'more member')} of groups on earlier pages:", "level")
    for one in late[:LATE_SHOWN]:
        yield Indented(Text(f"{sanitize(one['id'])} (page {one['page']})", "about"), 4)
    if len(late) > LATE_SHOWN:
        yield Indented(Text(f"… {len(late) - LATE_SHOWN:,} more", "about"), 4)
    yield Text()
