"""Text profile: the words that a text repeats, with quantized counts, as one hash.

Solr's TextProfileSignature and Nutch's (from 1.16 on, which orders equal counts alphabetically; Solr leaves them in the
order of its hash map).

1. Tokens of three characters and more are counted; quantum = floor(highest count · 0.01 + 0.5), but at least 2 when any
   occurs twice, else 1.
2. Counts are rounded down to multiples of the quantum; words with 0 are dropped.
3. Lines `token value`, values descending, ties by code point, joined by newline: xxh3-128. Fewer than five: none.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import xxhash

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import TermGroups, TokenBatch

SCHEME = "tp1:"
MIN_CHARACTERS = 3
MIN_KEPT = 5


def sign(tokens: Sequence[str]) -> str:
    """Sign the tokens of one document or page.

    >>> text = "net loss five cts net loss six cts qtr ended march qtr ended april".split()
    >>> sign(text), sign(text) == sign(text[::-1])
    ('tp1:fceff2236fee38df0b109bd90a39a1f1', True)
    """
    counts = Counter(token for token in tokens if len(token) >= MIN_CHARACTERS)
    highest = max(counts.values(), default=0)
    step = max((highest + 50) // 100, 2 if highest > 1 else 1)
    values = {token: count // step * step for token, count in counts.items()}
    pairs = sorted((-value, token) for token, value in values.items() if value)
    if len(pairs) < MIN_KEPT:
        return ""
    lines = "\n".join(f"{token} {-value}" for value, token in pairs)
    return SCHEME + xxhash.xxh3_128_hexdigest(lines.encode())


def sign_batch(batch: TokenBatch, groups: TermGroups) -> list[bytes]:
    """Sign several documents; returns hashes without a scheme, empty for a document with too few words."""
    words, documents = groups.vocabulary, len(batch)
    room = len(words.buffer) + loops.MAX_NUMBER_BYTES * groups.word.size
    columns = (words.buffer, words.starts, words.ends, words.leading, words.shapes.characters)
    counts = (groups.word, groups.document, groups.count, groups.word.size, documents)
    sizes = np.empty(documents, np.int64)
    lines = loops.lines("ibidem_profiles", room, documents, (*columns, *counts), sizes)
    kept = zip(lines, (sizes >= MIN_KEPT).tolist(), strict=True)
    return [xxhash.xxh3_128_digest(line) if is_kept else b"" for line, is_kept in kept]
