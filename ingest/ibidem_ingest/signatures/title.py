"""Title of a short text: news flashes have their news in the title, and all the same few words below it.

A text of fewer than 20 tokens is a duplicate only where the titles agree too: the title is part of its content hash,
and two titles that differ speak against a pair at every level. Where a title is missing, the text decides; and so
it does where the title is the beginning of the text, as readers of plain text take it from there.
"""

from collections.abc import Sequence

from ibidem_ingest.text.tokens import TokenBatch, tokens

SHORT = 20
"""Tokens from which on a text speaks for itself."""


def sign(words: Sequence[str], title: str) -> str:
    """Return the tokens of a short text's title, joined by one space; nothing of a longer text.

    Args:
        words: Tokens of the text.
        title: Its title.

    >>> sign(["blah", "blah"], "M-1 supply rises"), sign(["m", "1", "rises"], "M-1"), sign(["blah"] * 20, "M-1")
    ('m 1 supply rises', '', '')
    """
    if not title or not 0 < len(words) < SHORT:
        return ""
    titled = tokens(title)
    return "" if titled == list(words[: len(titled)]) else " ".join(titled)


def sign_batch(batch: TokenBatch, titles: Sequence[str]) -> list[str]:
    """Return the same for the texts of a batch."""
    ends = batch.offsets.tolist()
    return [
        sign([batch.token(at) for at in range(start, end)], title) if title and end - start < SHORT else ""
        for start, end, title in zip(ends, ends[1:], titles, strict=False)
    ]
