"""Relations of long texts (same, contains, part of, overlaps) from matching parts (Spasojevic and Poncin 2011).

| relation | means |
|---|---|
| `same_pagination` | the same text on the same pages: reprints |
| `different_pagination` | the same text with other page breaks |
| `contiguous_subset` | one holds the other, page for page: a volume in its set, an article in its journal |
| `contains` | one holds the other with other page breaks, or none: a chapter in an anthology, an excerpt |
| `overlapping_text` | a good part of one is in the other, and none of the above |

Parts match when 4 of their 34 slots are equal or their profiles are, or when three unique words that the alignment of
the whole texts keeps are in both. Pairs are found through equal slots, never by comparing all with all; a slot value
that more than 50 parts of a text carry (a form, a banner) is passed over.

Each relation has a confidence, the product of filters φ of signals between 0 and 1 (the paper's formula 4; all filters
are in `FILTERS`); relations that differ in the page breaks alone add theirs up. The highest wins; where all are low,
any overlap is `overlapping_text`; where less than a fifth of either text matches, there is no relation: books of one
publisher share a catalogue.

Signals, for texts a and b:

- *matched*: share of the parts with signatures that match a part of the other.
- *covered*: share of the shingles that are in the other, estimated from equal slots: two parts of n and m tokens and
  similarity s share s (n + m) / (1 + s) of them.
- *fullness*: how much of the fuller-covered text's counterpart is there: the smaller of the two *covered*; where nine
  tenths of both match, by the greater one, since noise lowers both equally.
- *in step*: the mean similarity of each part to its best match, divided by its value with equal page breaks: c / (2 -
  c), c the greater *covered* (the paper's page-based similarity, made independent of noise).
- *slope*: of the linear fit p2 = slope · p1 + offset over matching parts. *in step* is more robust to noise: only a
  *slope* below 0 counts, since pages in reverse order are not the same pages.
- *aligned*: the `its` of the unique words.

Runs of words: hashes of single words, and of five consecutive words.

A text that has many runs of another has its words in the same order: a quotation, or another version of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import unique_words
from ibidem_ingest.signatures.long_text import MIN_EQUAL_SLOTS, PART_SLOTS, LongSignatures
from ibidem_ingest.signatures.unique_words import Alignment
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import Places, wh1

MAX_PARTS_PER_VALUE = 50  # parts of a text with a value, from which on it is passed over
MIN_ANCHORS = 3

Keys = NDArray[np.integer[Any]]
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Matching parts of two texts."""

    a: Places  # (m,) parts of the one, ascending
    b: Places  # (m,) parts of the other
    similar: Shares  # (m,) share of equal slots; 1 for equal profiles

    def __len__(self) -> int:
        return int(self.a.size)


# The matches of two texts that share no part.
NO_MATCHES = Matches(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def match_parts(a: LongSignatures, b: LongSignatures, alignment: Alignment | None) -> Matches:
    """Find the matching parts of two texts."""
    width = max(1, len(b))
    shared = join_sorted(*a.slot_keys, *b.slot_keys, width)
    profiles = join_sorted(*a.profile_keys, *b.profile_keys, width)
    if alignment is None and shared.size < MIN_EQUAL_SLOTS and not profiles.size:  # most pairs without evidence
        return NO_MATCHES
    profiles = np.unique(profiles)
    slots, equal = np.unique(shared, return_counts=True)
    aligned = np.zeros(0, np.int64)
    if alignment is not None and alignment.counts:
        aligned = a.part_of_word[alignment.a] * width + b.part_of_word[alignment.b]
    words, anchors = np.unique(aligned, return_counts=True)
    keys = np.unique(np.concatenate((slots[equal >= MIN_EQUAL_SLOTS], profiles, words[anchors >= MIN_ANCHORS])))
    similar = np.zeros(keys.size)
    _, place, found = np.intersect1d(keys, slots, assume_unique=True, return_indices=True)
    similar[place] = equal[found] / PART_SLOTS
    similar[np.isin(keys, profiles)] = 1.0
    return Matches(keys // width, keys % width, similar)


def join_sorted(  # noqa: PLR0913, PLR0917 - two indexes
    left: Keys, a: Keys, right: Keys, b: Keys, width: int, most: int = MAX_PARTS_PER_VALUE
) -> Places:
    """Return the pairs of rows that share a key, as `row of a * width + row of b`, once for each key.

    A key that more than `most` rows of the right have is passed over.
    """
    start = right.searchsorted(left)
    if not right.size or not (right.take(start, mode="clip") == left).any():
        return np.zeros(0, np.int64)
    end = right.searchsorted(left, "right")
    times = np.where(end - start <= most, end - start, 0)
    step = np.arange(times.sum()) - np.repeat(times.cumsum() - times - start, times)
    pairs: Places = np.repeat(a.astype(np.int64), times) * width + b[step]
    return pairs


Name = Literal["same_pagination", "different_pagination", "contiguous_subset", "contains", "overlapping_text"]
Side = Literal["a", "b"]
Filter = Callable[[float], float]

MIN_MATCHED = 0.2  # below this share of either text there is no relation

MIN_CONFIDENCE = 0.5  # least confidence; below it any overlap is `overlapping_text`

MIN_DISTANCE = 20  # parts between two stretches of matching ones, at least, before one of them may be set aside

NEARLY_ALL = 0.9  # share of both texts' parts from which a low *covered* comes from noise


def high_pass(low: float, high: float) -> Filter:
    """Return a filter that is 0 up to one value and 1 from another on.

    >>> [high_pass(0.5, 0.7)(each) for each in (0.4, 0.6, 0.9)]
    [0.0, 0.5, 1.0]
    """
    return lambda value: round(min(1.0, max(0.0, (value - low) / (high - low))), 6)


def invert(passes: Filter) -> Filter:
    """Return the filter that is 1 where another is 0."""
    return lambda value: 1 - passes(value)


def equal_pagination(value: float) -> float:
    """Return max(0, 1 - ((1 - s) / 0.4)²), the paper's filter of page similarity for equal pagination."""
    return max(0.0, 1 - ((1 - min(1.0, value)) / 0.4) ** 2)


is_held, is_full = high_pass(0.7, 0.9), high_pass(0.55, 0.8)

# For each relation the filters of its signals. `in_step` and its form are the paper's, all figures else were chosen on
# every other labelled pair of `ecco_tcp_pages` (`benchmarks/books.py`).
FILTERS: Mapping[Name, Mapping[str, Filter]] = {
    "contiguous_subset": {"held": is_held, "fullness": invert(is_full), "in_step": equal_pagination},
    "contains": {"held": is_held, "fullness": invert(is_full), "in_step": invert(equal_pagination)},
    "same_pagination": {"fullness": is_full, "in_step": equal_pagination},
    "different_pagination": {"fullness": is_full, "in_step": invert(equal_pagination)},
}

# Relations that differ in the page breaks alone. Which kind it is comes first, and the confidence is that of the kind,
# so that two halves of a doubt about page breaks are not taken for a doubt about the text.
KINDS: tuple[tuple[Name, Name], ...] = (("contiguous_subset", "contains"), ("same_pagination", "different_pagination"))


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of two long texts."""

    name: Name  # the relation
    confidence: float
    contains: Side | None  # which of the two holds the other; None where neither does
    a: tuple[int, int]  # the first and last matching part of the one, from 1, a few stray ones set aside
    b: tuple[int, int]  # the first and last matching part of the other
    signals: Mapping[str, float]  # the signals that the confidence was made of

    @property
    def label(self) -> str:
        """Name of the relation from the first text's point of view."""
        return "part_of" if self.name == "contains" and self.contains == "b" else self.name

    def swap(self) -> "Relation":
        """Return the relation as seen from the other text."""
        other: Mapping[Side | None, Side | None] = {"a": "b", "b": "a", None: None}
        split = [(*name.rpartition("_"), value) for name, value in self.signals.items()]
        turned = {"a": "b", "b": "a"}
        signals = {f"{head}{line}{turned.get(side, side)}": value for head, line, side, value in split}
        return replace(self, contains=other[self.contains], a=self.b, b=self.a, signals=signals)


def relate(a: LongSignatures, b: LongSignatures, similarity: float = 0.0) -> Relation | None:
    alignment = unique_words.compare(a.words, b.words)
    matches = match_parts(a, b, alignment)
    if not len(matches):
        return None
    measured = measure_parts(a, b, matches)
    if max(measured["matched_a"], measured["matched_b"]) < MIN_MATCHED:
        return None
    signals = {"whole": similarity, "aligned": alignment.its if alignment else 0.0, **measured}
    if np.ptp(matches.a):
        line = np.polyfit(matches.a, matches.b, 1, w=np.maximum(matches.similar, 0.01))
        signals["slope"] = float(line[0])
    holder: Side = "b" if better_covered(measured) == "a" else "a"
    return choose_relation(holder, {name: round(value, 3) for name, value in signals.items()}, matches)


def measure_parts(a: LongSignatures, b: LongSignatures, matches: Matches) -> dict[str, float]:
    """Return the signals of the matching parts of two texts."""
    tokens = a.tokens[matches.a].astype(float) + b.tokens[matches.b]
    overlap = matches.similar * tokens / (1 + matches.similar)
    signals, similar = dict[str, float](), 0.0
    for side, text, parts in (("a", a, matches.a), ("b", b, matches.b)):
        signals[f"matched_{side}"] = np.unique(parts).size / max(1, int(np.count_nonzero(text.has_signatures)))
        signals[f"covered_{side}"] = covered_share(text, parts, overlap)
        similar = max(similar, best_similarity(text, parts, matches.similar))
    minimum, maximum = sorted((signals["covered_a"], signals["covered_b"]))
    noisy = min(signals["matched_a"], signals["matched_b"]) >= NEARLY_ALL
    alike = maximum / (2 - maximum)
    return signals | {
        "held": signals[f"matched_{better_covered(signals)}"],
        "fullness": (minimum / maximum if maximum else 1.0) if noisy else minimum,
        "in_step": similar / alike if alike else 0.0,
    }


def better_covered(signals: Mapping[str, float]) -> Side:
    """Return the side that is better covered by the other; ties go to the one with more matching parts."""
    a, b = ((signals[f"covered_{side}"], signals[f"matched_{side}"]) for side in "ab")
    return "a" if a >= b else "b"


def covered_share(text: LongSignatures, parts: Places, overlap: Shares) -> float:
    """Return the share of a text's shingles that its matching parts share with the other's."""
    shared_by_part = np.bincount(parts, overlap, len(text))
    return float(np.minimum(shared_by_part, text.tokens).sum() / max(1, int(text.tokens.sum())))


def best_similarity(text: LongSignatures, parts: Places, similar: Shares) -> float:
    """Return the mean similarity of a text's parts to their best matches, for parts that match by slots."""
    highest = np.zeros(len(text))
    np.maximum.at(highest, parts, similar)
    return float(highest[highest > 0].mean()) if highest.any() else 0.0


def choose_relation(holder: Side, signals: Mapping[str, float], matches: Matches) -> Relation:
    confidences = {
        name: float(np.prod([filter_(signals[signal]) for signal, filter_ in filters.items()]))
        for name, filters in FILTERS.items()
    }
    kind = max(KINDS, key=lambda pair: sum(confidences[name] for name in pair))
    sure = sum(confidences[name] for name in kind)
    name: Name = kind[confidences[kind[0]] < confidences[kind[1]] or signals.get("slope", 1.0) < 0]
    if sure < MIN_CONFIDENCE:
        name, sure = "overlapping_text", 1 - sure
    contains = holder if name in ("contiguous_subset", "contains") else None
    parts = common_part(matches.a), common_part(matches.b)
    return Relation(name, round(sure, 3), contains, *parts, signals)


def common_part(parts: Places) -> tuple[int, int]:
    """Return the first and last of matching parts, from 1, ignoring outliers.

    A half-title or a page of notes matches by chance; it is far off when more parts lie between than match at all.

    >>> common_part(np.array([1, 167, 168, 168, 169, 170]))
    (168, 171)
    """
    numbers = np.unique(parts)
    stretches = np.split(numbers, np.flatnonzero(np.diff(numbers) > max(MIN_DISTANCE, len(numbers))) + 1)
    minimum = max(map(len, stretches)) / 4
    long_stretches = [stretch for stretch in stretches if len(stretch) > minimum]
    return int(long_stretches[0][0]) + 1, int(long_stretches[-1][-1]) + 1


Hashes = NDArray[np.uint64]

RUN = 5  # words of a run; a text of fewer words is compared word by word

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
