"""Text profile: the words that a text repeats, with quantized counts, as one hash.

Solr's TextProfileSignature and Nutch's (from 1.16 on, which orders equal counts alphabetically; Solr leaves them in the
order of its hash map). The option `log` makes frequent words move less (the Qiqqa note).

1. Tokens of three characters and more are counted; quantum = floor(highest count · 0.01 + 0.5), but at least 2 when any
   occurs twice, else 1.
2. Counts are rounded down to multiples of the quantum; words with 0 are dropped. With `log` instead: words that occur
   once are dropped, unless all do, and the value is floor(log2 count).
3. Lines `token value`, values descending, ties by code point, joined by newline: xxh3-128. Fewer than five: none.
"""

from collections import Counter
from collections.abc import Sequence

import xxhash

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch

SCHEME = "tp1:"
LOG_SCHEME = "tl1:"
MIN_CHARACTERS = 3
MIN_KEPT = 5


def sign(tokens: Sequence[str], *, log: bool = False) -> str:
    """Sign the tokens of one document or page.

    >>> text = "net loss five cts net loss six cts qtr ended march qtr ended april".split()
    >>> sign(text), compare(sign(text), sign(text[::-1]))
    ('tp1:fceff2236fee38df0b109bd90a39a1f1', 1.0)
    """
    counts = Counter(token for token in tokens if len(token) >= MIN_CHARACTERS)
    highest = max(counts.values(), default=0)
    values = {token: _value(count, highest, log=log) for token, count in counts.items()}
    pairs = sorted((-value, token) for token, value in values.items() if value)
    if len(pairs) < MIN_KEPT:
        return ""
    lines = "\n".join(f"{token} {-value}" for value, token in pairs)
    return (LOG_SCHEME if log else SCHEME) + xxhash.xxh3_128_hexdigest(lines.encode())


def sign_batch(batch: TokenBatch, groups: TermGroups, *, log: bool = False) -> list[bytes]:
    """Sign several documents; returns hashes without a scheme, empty for a document with too few words."""
    data, bounds, sizes = _write_lines(batch, groups, log=log)
    digest = xxhash.xxh3_128_digest
    return [
        digest(data[start : end - 1]) if size >= MIN_KEPT else b""
        for size, start, end in zip(sizes, bounds, bounds[1:], strict=False)
    ]


def _write_lines(batch: TokenBatch, groups: TermGroups, *, log: bool) -> tuple[bytes, list[int], list[int]]:
    """Write the lines of documents."""
    words = groups.vocabulary
    columns = (words.buffer, words.starts, words.ends, words.leading, words.shapes.characters)
    return loops.compiled().profiles(columns, (groups.word, groups.document, groups.count), len(batch), log=log)


def compare(a: str, b: str) -> float:
    """Return 1.0 for equal profiles, 0.0 for different or missing ones."""
    return float(a == b and a != "")


def quantum(highest: int) -> int:
    """Return the quantum by which counts are rounded down.

    >>> [quantum(highest) for highest in (1, 2, 249, 250)]
    [1, 2, 2, 3]
    """
    return max((highest + 50) // 100, 2 if highest > 1 else 1)


def _value(count: int, highest: int, *, log: bool) -> int:
    """Return the quantized count, 0 for a dropped word; with `log`, 1 for each word if no word occurs twice."""
    if not log:
        return count // quantum(highest) * quantum(highest)
    return count.bit_length() - 1 if highest > 1 else 1
