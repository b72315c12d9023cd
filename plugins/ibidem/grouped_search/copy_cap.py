"""Cap on exact copies: of a text that very many documents share, further copies are counted and not fetched.

Whatever is in a window's first step is read. Where that does not fill its page, and a hundred copies of a text were
read, every further one would only join the group that they are in; a story that was printed a hundred thousand times
would else be read to the last hit that a window may hold, and hide what follows it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from ibidem.dedupe.overrides import DocumentRef, Override
from ibidem.dedupe.window import Window
from ibidem_engines.engine import SignatureLookup

MANY = 100
"""Copies of a text from which on further ones are surplus."""


def find_capped_texts(window: Window, overrides: Iterable[Override]) -> dict[str, Sequence[int]]:
    """Return the rows of the texts whose further copies are surplus, by their content hash.

    All copies must be sure to join the first of them. So this one leads its group; no field that must not differ keeps
    one of them apart from it, and no manual decision.

    Args:
        window: The hits that were read.
        overrides: Manual decisions, those about documents that were not read too.
    """
    kept_apart = {name for word in overrides if word.verdict == "not" for name in (word.a, word.b)}
    return {
        content: rows
        for content, rows in copies(window).items()
        if len(rows) >= MANY and joins_every_copy(window, rows[0]) and window.name(rows[0]) not in kept_apart
    }


def joins_every_copy(window: Window, row: int) -> bool:
    """Return whether a row is a lead that every copy of its text joins, whatever else the copy holds."""
    return bool(window.grouping.lead[row] == row and window.columns.guard[row] == 0)


def copies(window: Window) -> Mapping[str, Sequence[int]]:
    """Return the rows of each text by its content hash, in rank order; those without words aside."""
    hashes = window.columns.content.astype("<u8").tobytes().hex()
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row in range(len(window.hits)):
        if window.columns.length[row]:
            rows[f"ch{window.columns.scheme[row]}:{hashes[32 * row : 32 * row + 32]}"].append(row)
    return rows


def capped_rows(copies: Mapping[str, Sequence[int]], step: int) -> set[int]:
    """Return the rows that are only counted: copies beyond the first step and beyond the first hundred."""
    return {row for rows in copies.values() for row in rows[MANY:] if row >= step}


def counts(contents: Iterable[str]) -> list[SignatureLookup]:
    """Return the look-ups that count the documents of each text."""
    return [SignatureLookup({"content": [content]}, limit=0) for content in contents]


def only_counted(window: Window, matching: Mapping[str, int], outside: Collection[DocumentRef] = ()) -> dict[str, int]:
    """Say how many copies of each text were counted and not read, by the id of its group.

    Args:
        window: The page's hits, and what a scope found.
        matching: How many documents with each content hash match.
        outside: Documents that a scope found and that do not match.
    """
    rows = copies(window) if matching else {}
    counts = {}
    for content, count in matching.items():
        read = [row for row in rows.get(content, ()) if window.name(row) not in outside]
        if read and count > len(read):
            counts[window.group_id(read[0])] = count - len(read)
    return counts
