"""Content hash: the same words and figures in the same order, whatever the case, punctuation or white space."""

from collections.abc import Sequence

import xxhash

from ibidem_ingest.tokens import TokenBatch

SCHEME = "ch1:"


def sign(tokens: Sequence[str], name: str) -> str:
    """Hash a document's tokens: xxh3-128 of their UTF-8, joined by one space.

    Args:
        tokens: In text order.
        name: The document's id, the value of a text without words, so that no other text shares it.

    Returns:
        `ch1:` and 32 hex digits, or `ch1:none:<id>`.

    >>> sign(["so", "ordered"], "op-17")
    'ch1:7c5835fc662cac0baebfe4180de55ebb'
    """
    return _hashed(" ".join(tokens).encode(), name)


def sign_batch(batch: TokenBatch, names: Sequence[str]) -> list[str]:
    """Hash the documents of a batch, as `sign` does each."""
    return [_hashed(joined, name) for joined, name in zip(batch.joined(), names, strict=True)]


def compare(a: str, b: str) -> float:
    """Return 1.0 for equal content, else 0.0."""
    return float(a == b)


def _hashed(joined: bytes, name: str) -> str:
    return f"{SCHEME}{xxhash.xxh3_128_hexdigest(joined)}" if joined else f"{SCHEME}none:{name}"
