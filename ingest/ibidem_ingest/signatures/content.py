"""Content hash: equal for the same words, figures and signs in the same order, ignoring case, layout and white space.

BLAKE2b (RFC 7693) cut to 128 bits: copies are deleted by it, so it must be impossible to construct two texts that share
it. A text of fewer than 20 tokens says little, so its title counts too. Signs are those that carry meaning
(`text.signs`). Of a mail counts also which one it is (`mail.parts.mail_key`): the same words from another sender are
another mail.

Title of a short text: news flashes have their news in the title, and all the same few words below it.
A text of fewer than 20 tokens is a duplicate only where the titles agree too: the title is part of its content hash,
and two titles that differ speak against a pair at every level. Where a title is missing, the text decides; and so
it does where the title is the beginning of the text, as readers of plain text take it from there. The title of a
longer text is kept as well, for decisions learned from labels; by itself it decides nothing.

The name of a stored group is made of the id of the document that began it.
"""

from collections.abc import Sequence
from hashlib import blake2b

import xxhash

from ibidem_ingest.text.layout import THOUSANDS_MARKS
from ibidem_ingest.text.tokens import TokenBatch

SCHEME = "ch4:"
SIZE = 16  # bytes of a hash

# What is before the title, the signs and the key of a mail; no token or sign holds one of them.
BEFORE_TITLE, BEFORE_SIGNS, BEFORE_MAIL = "\x1f", "\x1e", "\x1d"


def sign(tokens: Sequence[str], name: str, title: str = "", signs: str = "", mail: str = "") -> str:
    """Hash a document's tokens, title, signs and mail: BLAKE2b-128 of their UTF-8, tokens joined by one space."""
    return format_hash(digest(" ".join(tokens).encode(), title, signs.encode(), mail), name)


def short_hash(data: bytes) -> int:
    """Return a hash of 16 bits, which says of two near texts whether all words or signs are equal; 0 for none."""
    return (xxhash.xxh3_64_intdigest(data) & 0xFFFF or 1) if data else 0


def format_hash(digest: bytes, name: str) -> str:
    return f"{SCHEME}{digest.hex()}" if digest else f"{SCHEME}none:{name}"


def digest(words: bytes, title: str, signs: bytes, mail: str) -> bytes:
    """Hash joined words, as `sign` does; returns the bare hash, empty for a text without words."""
    if not words:
        return b""
    data = words
    if title:
        data += f"{BEFORE_TITLE}{title}".encode()
    if signs:
        data += BEFORE_SIGNS.encode() + signs
    if mail:
        data += f"{BEFORE_MAIL}{mail}".encode()
    return blake2b(data, digest_size=SIZE).digest()


MIN_UNTITLED_TOKENS = 20  # tokens from which on a text needs no title


def counts_title(words: Sequence[str], title: str, signs: str = "") -> bool:
    """Return whether a title counts: the text is short, has words, and does not begin with the title.

    Each group of digits is a word here.

    >>> counts_title(["blah", "blah"], "m 1 supply rises"), counts_title(["m", "1", "rises"], "m 1")
    (True, False)
    >>> counts_title(["blah"] * 20, "m 1")
    False
    """
    short = 0 < len(words) + sum(map(signs.count, THOUSANDS_MARKS)) < MIN_UNTITLED_TOKENS
    return bool(title) and short and not f"{' '.join(words)} ".startswith(f"{title} ")


def sign_titles(
    words: Sequence[bytes], signs: Sequence[bytes], lengths: Sequence[int], titles: Sequence[str]
) -> tuple[list[str], list[bool]]:
    """Return the joined tokens of each title, and whether it counts for the joined words of a text of that length."""
    signed = [""] * len(titles)
    if any(titles):
        signed = [each.decode() for each in TokenBatch.tokenize(titles).join_tokens()]
    return signed, [
        bool(title) and length < MIN_UNTITLED_TOKENS and counts_title(text.decode().split(), title, sign.decode())
        for text, sign, length, title in zip(words, signs, lengths, signed, strict=True)
    ]
