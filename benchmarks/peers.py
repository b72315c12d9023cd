"""Pairs of duplicates by other methods: datasketch, SimHash and Solr's TextProfileSignature.

Words are runs of letters and digits in lower case, and each Han character, for all of them. datasketch: min-hash of
128 permutations over shingles of five words; pairs that `MinHashLSH` returns and whose estimate reaches the
threshold. SimHash (Charikar 2002; the package simhash): 64 bits over shingles of three words with their counts, pairs
that differ in no more bits than a limit (3 is the figure of Manku, Jain and Das Sarma 2007), found by comparing all.
Solr: equal signatures, as its documentation gives them (quantRate 0.01, minTokenLen 2); there is no library for it in
Python.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import xxhash
from datasketch import MinHash, MinHashLSH
from simhash import Simhash

from ibidem_ingest.document import Document
from ibidem_lab.labels import Pair, order_pair

# A Han character, or a run of other letters and digits.
WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|(?:(?![\u3400-\u9fff\uf900-\ufaff])\w)+")

PERMUTATIONS = 128
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BITS = (3, 6, 9, 12)
QUANT_RATE = 0.01
HEAVIEST = 50  # the package counts greater weights in eight bits, where they overflow

ROWS = 1_000  # rows whose bits are compared at once with all that follow


def shingles(text: str, size: int) -> list[bytes]:
    """Cut a text into overlapping runs of words; a shorter one is one run."""
    words = WORD.findall(text.lower())
    return [" ".join(words[at : at + size]).encode() for at in range(max(1, len(words) - size + 1))]


def min_hashes(documents: Sequence[Document], seed: int) -> list[MinHash]:
    shingle_sets = (set(shingles(document.text, 5)) for document in documents)
    return list(MinHash.bulk(shingle_sets, num_perm=PERMUTATIONS, seed=seed, hashfunc=xxhash.xxh32_intdigest))


def datasketch_pairs(names: Sequence[str], hashes: Sequence[MinHash], threshold: float) -> set[Pair]:
    index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    pairs = set()
    for at, (name, each) in enumerate(zip(names, hashes, strict=True)):
        pairs |= {order_pair(name, names[to]) for to in index.query(each) if each.jaccard(hashes[to]) >= threshold}
        index.insert(at, each, check_duplication=False)
    return pairs


def estimated_pairs(names: Sequence[str], hashes: Sequence[MinHash]) -> dict[Pair, float]:
    """Find pairs with datasketch's index at the lowest threshold, each with its estimate."""
    index = MinHashLSH(threshold=min(THRESHOLDS), num_perm=PERMUTATIONS)
    pairs = {}
    for at, (name, each) in enumerate(zip(names, hashes, strict=True)):
        pairs |= {order_pair(name, names[to]): each.jaccard(hashes[to]) for to in index.query(each)}
        index.insert(at, each, check_duplication=False)
    return pairs


def simhash_pairs(documents: Sequence[Document]) -> Mapping[int, set[Pair]]:
    """Find pairs by the distance of their SimHashes, for each number of bits."""
    bits = np.array([simhash(document.text) for document in documents], np.uint64)
    pairs: dict[int, set[Pair]] = {limit: set() for limit in BITS}
    for a, b, distance in close_pairs(bits, max(BITS)):
        pair = order_pair(documents[a].id, documents[b].id)
        for limit in BITS:
            if distance <= limit:
                pairs[limit].add(pair)
    return pairs


def simhash(text: str) -> int:
    counts = Counter(shingle.decode() for shingle in shingles(text, 3))
    weights = {shingle: min(count, HEAVIEST) for shingle, count in counts.items()}
    value: int = Simhash(weights, hashfunc=xxhash.xxh64_intdigest).value
    return value


def close_pairs(bits: np.ndarray[tuple[int], np.dtype[np.uint64]], limit: int) -> Iterator[tuple[int, int, int]]:
    """Compare all with all: rows and how many bits they are apart, where these are few."""
    for start in range(0, len(bits), ROWS):
        distance = np.bitwise_count(bits[start : start + ROWS, None] ^ bits[None, start:])
        for a, b in zip(*np.nonzero(distance <= limit), strict=True):
            if a < b:
                yield start + int(a), start + int(b), int(distance[a, b])


def profile_pairs(documents: Iterable[Document]) -> set[Pair]:
    """Find pairs with equal text profiles as Solr makes them."""
    groups: dict[str, list[str]] = {}
    for document in documents:
        groups.setdefault(solr_profile(document.text), []).append(document.id)
    return {order_pair(*pair) for names in groups.values() for pair in combinations(names, 2)}


def solr_profile(text: str) -> str:
    """Return the quantized counts of a text's words of more than two letters, the most frequent first."""
    counts = Counter(word for word in WORD.findall(text.lower()) if len(word) > 2)
    highest = max(counts.values(), default=0)
    quant = max(round(highest * QUANT_RATE), 2 if highest > 1 else 1)
    coarse = {word: count // quant * quant for word, count in counts.items() if count >= quant}
    return "\n".join(f"{word} {count}" for word, count in sorted(coarse.items(), key=lambda each: (-each[1], each[0])))
