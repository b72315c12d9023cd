"""Content hash: the same words and figures in the same order, whatever the case, punctuation or white space.

BLAKE2b (RFC 7693) cut to 128 bits: copies are deleted by it, so nobody may be able to write two texts that share it.
A text of fewer than 20 tokens says little, so its title counts too (`title`).
"""

from collections.abc import Sequence
from hashlib import blake2b

import xxhash

from ibidem_ingest.text.tokens import TokenBatch

SCHEME, EARLIER = "ch2:", "ch1:"
SIZE = 16
"""Bytes of a hash."""

BEFORE_TITLE = "\x1f"
"""Stands between text and title; no token holds it."""


def sign(tokens: Sequence[str], name: str, title: str = "") -> str:
    """Hash a document's tokens: BLAKE2b-128 of their UTF-8, joined by one space.

    Args:
        tokens: In text order.
        name: The document's id, the value of a text without words, so that no other text shares it.
        title: What `title.sign` gives for it; hashed too, behind U+001F.

    Returns:
        `ch2:` and 32 hex digits, or `ch2:none:<id>`.

    >>> sign(["so", "ordered"], "op-17")
    'ch2:f8224d4f2de4c8400e372f625c86f72b'
    """
    return _hashed(" ".join(tokens).encode(), name, title)


def sign_batch(batch: TokenBatch, names: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Hash the documents of a batch, as `sign` does each."""
    return [_hashed(*each) for each in zip(batch.joined(), names, titles, strict=True)]


def sign_earlier(tokens: Sequence[str], name: str) -> str:
    """Hash a document's tokens as schema 1 did: xxh3-128, without the title; only to see whether its words changed."""
    joined = " ".join(tokens).encode()
    return f"{EARLIER}{xxhash.xxh3_128_hexdigest(joined)}" if joined else f"{EARLIER}none:{name}"


def compare(a: str, b: str) -> float:
    """Return 1.0 for equal content, else 0.0."""
    return float(a == b)


def _hashed(joined: bytes, name: str, title: str) -> str:
    if not joined:
        return f"{SCHEME}none:{name}"
    whole = joined + f"{BEFORE_TITLE}{title}".encode() if title else joined
    return f"{SCHEME}{blake2b(whole, digest_size=SIZE).hexdigest()}"
