"""Runs of words: hashes of single words, and of five consecutive words.

A text that has many runs of another has its words in the same order: a quotation, or another version of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.document import Document
from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import wh1

Hashes = NDArray[np.uint64]

RUN = 5  # words of a run; a text of fewer words is compared word by word

BATCH_CHARACTERS = 2_000_000
BESIDE_TEXT = 1_000  # characters that a document weighs beside its text, so that a batch has few thousand of them

_FACTORS = [
    np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
]
NO_WORDS: Hashes = np.zeros(0, np.uint64)


def runs(words: Hashes) -> Hashes:
    """Hash each run of words; empty for fewer words than a run has.

    >>> runs(np.arange(7, dtype=np.uint64)).size
    3
    """
    count = words.size - RUN + 1
    if count <= 0:
        return NO_WORDS
    mixed = words[:count].copy()
    for place, factor in enumerate(_FACTORS, 1):
        mixed = mixed * factor + words[place : place + count]
        mixed ^= mixed >> np.uint64(29)
    return mixed


def hash_words(texts: Sequence[str]) -> tuple[Hashes, Sequence[int]]:
    """Hash the words of texts; returns the hashes, and the offset of each text in them, with the end."""
    if loops.IN_USE is not None:
        batch = TokenBatch.tokenize(texts)
        return batch.hashes, batch.offsets.tolist()
    words = [[wh1(word) for word in tokens(text)] for text in texts]
    return np.array(list(chain(*words)), np.uint64), list(accumulate(map(len, words), initial=0))


def text_batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield batches of documents up to a total number of characters; a longer document is a batch of its own."""
    some: list[Document] = []
    weight = 0
    for document in documents:
        own = len(document.text) + BESIDE_TEXT
        if some and weight + own > BATCH_CHARACTERS:
            yield some
            some, weight = [], 0
        some.append(document)
        weight += own
    if some:
        yield some
