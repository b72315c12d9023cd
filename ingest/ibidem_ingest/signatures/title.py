"""Title of a short text: news flashes have their news in the title, and all the same few words below it.

A text of fewer than 20 tokens is a duplicate only where the titles agree too: the title is part of its content hash,
and two titles that differ speak against a pair at every level. Where a title is missing, the text decides.
"""

from collections.abc import Sequence

from ibidem_ingest.tokens import tokens

SHORT = 20
"""Tokens from which on a text speaks for itself."""


def sign(length: int, title: str) -> str:
    """Return the tokens of a short text's title, joined by one space; nothing of a longer text.

    Args:
        length: Tokens of the text.
        title: Its title.

    >>> sign(4, "U.S. M-1 money supply rises"), sign(400, "U.S. M-1 money supply rises")
    ('u s m 1 money supply rises', '')
    """
    return " ".join(tokens(title)) if title and 0 < length < SHORT else ""


def sign_batch(lengths: Sequence[int], titles: Sequence[str]) -> list[str]:
    """Return the same for several texts."""
    return [sign(*each) for each in zip(lengths, titles, strict=True)]
