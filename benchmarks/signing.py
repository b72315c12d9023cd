"""Min-hash of ibidem and of other libraries over the same documents: newswire cut into pieces of 800 words.

100 hashes over shingles of five words. All libraries get the same list of strings. gaoya cuts, hashes and signs in Rust
(its only interface also puts each document into an index). datasketch and rensa take lists of shingles: these are made
by one regular expression and joins, and datasketch hashes them with xxh32, which is faster than its default.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

import datasketch
import gaoya
import rensa
import xxhash

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import read
from ibidem_ingest.signatures import minhash
from ibidem_ingest.signatures.sign import batches
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import Shingles
from stories import NEWSWIRE

WORDS = 800
HASHES = 100
WORD = re.compile(r"\w+")

Contender = Callable[[], object]


def documents(collections: Path, count: int) -> list[Document]:
    """Join newswire and cut it into documents of 800 words."""
    stories = (story.text for story in read([collections / NEWSWIRE]) if not isinstance(story, Refusal))
    text = "\n".join(islice(stories, count * WORDS // 80))
    starts = [match.start() for match in islice(WORD.finditer(text), 0, count * WORDS + 1, WORDS)]
    return [Document(f"d{number}", text[a:b]) for number, (a, b) in enumerate(pairwise(starts))]


def our_minhash(several: Sequence[Document]) -> None:
    """Make min-hash sketches alone."""
    for batch in batches(several):
        tokens = TokenBatch.tokenize([document.text for document in batch])
        minhash.sign_batch(Shingles.hash(tokens.hashes, tokens.offsets))


def gaoya_minhash(texts: Sequence[str]) -> None:
    """Sign with gaoya: words, lower case and five-word shingles in Rust, 100 hashes of 64 bits, as ours are."""
    index = gaoya.minhash.MinHashStringIndex(64, 0.5, 20, 5, None, "word", True, (5, 5), "vec")  # noqa: FBT003
    for number, text in enumerate(texts):
        index.insert_document(number, text)


def cut_shingles(texts: Sequence[str]) -> Iterator[list[str]]:
    """Cut texts into shingles of five words."""
    for text in texts:
        words = WORD.findall(text.lower())
        yield list(map(" ".join, zip(*(words[start:] for start in range(5)), strict=False)))


def datasketch_minhash(texts: Sequence[str]) -> None:
    """Sign with datasketch, in bulk."""
    octets = ([shingle.encode() for shingle in shingles] for shingles in cut_shingles(texts))
    datasketch.MinHash.bulk(octets, num_perm=HASHES, hashfunc=xxhash.xxh32_intdigest)


def rensa_minhash(texts: Sequence[str]) -> None:
    """Sign with rensa."""
    for shingles in cut_shingles(texts):
        sketch = rensa.RMinHash(num_perm=HASHES, seed=42)
        sketch.update(shingles)
        sketch.digest()
