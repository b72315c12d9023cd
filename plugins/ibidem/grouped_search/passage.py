"""Passages: texts cut from documents by a retriever, and which passages overlap."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.relations import RUN, hash_words, runs
from ibidem_ingest.errors import UsageError, short_repr

# Passages of a document that may begin with the same run: a heading that more of them repeat is ignored from then on.
# What follows in a list changes nothing before it, so that a longer list moves no passage of a shorter one.
MAX_HOLDERS = 4

OVERLAP = "overlap"  # name of this evidence in an answer

Side = Literal["before", "after", "within"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that was cut from a document.

    Args:
        text: The text.
        document: Name of the document; empty: it is not known, and the passage overlaps no other.
        date: ISO 8601; decides where the earliest, latest or current is kept.
        source: Its publisher; decides where sources are kept in an order.
        title: Title of the document; decides with its name, by what they say of its version, where the current is kept.
    """

    text: str
    document: str = ""
    date: str = ""
    source: str = ""
    title: str = ""

    @classmethod
    def of(cls, value: object, place: int) -> "Passage":
        """Return a passage as it is, and a text as a passage of an unknown document.

        Args:
            value: What a caller has given.
            place: Its place in the list, for the error.

        Raises:
            UsageError: It is no text, or a field of the passage is no string.

        >>> Passage.of("Rent is due.", 0)
        Passage(text='Rent is due.', document='', date='', source='', title='')
        """
        passage = value if isinstance(value, cls) else cls(value)  # type: ignore[arg-type]  # checked on the next lines
        for name in cls.__slots__:
            field = getattr(passage, name)
            if not isinstance(field, str):
                what = f"text {place}" if name == "text" else f"{name} of passage {place}"
                raise UsageError(f"{what} is {short_repr(field)}, no string", f"give each {name} as a string")
        return passage


@dataclass(frozen=True, slots=True)
class Overlap:
    """Words that two passages of one document share at their edges."""

    words: int  # how many
    side: Side  # where the first passage stands, seen from the second
    of: int  # words of the shorter passage

    @property
    def evidence(self) -> Evidence:
        """The reason why the first passage belongs to the second."""
        reason = {"signature": OVERLAP, "words": self.words, "of": self.of, "side": self.side}
        return Evidence("partial", OVERLAP, round(self.words / self.of, 3), reason)


# Pairs of passages that overlap, each pair in both orders, by their places.
Overlaps = Mapping[tuple[int, int], Overlap]

NO_OVERLAPS: Overlaps = {}


def overlaps(passages: Sequence[Passage]) -> dict[tuple[int, int], Overlap]:
    """Return the pairs of passages that overlap in their document, by position, each pair in both orders.

    Words that two passages share at their edges are a run at the least; of several overlaps of two the longest counts.
    The text decides, not a position: loaders count characters from the start of a page or of a file, and do not say
    which. Passages with equal words do not overlap; they are duplicates.

    >>> cut = [Passage(text, "lease") for text in ("a b c d e f g h", "d e f g h i j k", "x y z")]
    >>> overlaps(cut)[1, 0]
    Overlap(words=5, side='after', of=8)
    """
    by_document: dict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(passages):
        if passage.document:
            by_document[passage.document].append(place)
    shared = [place for places in by_document.values() if len(places) > 1 for place in places]
    numbers = {document: number for number, document in enumerate(by_document)}
    hashes, ends = hash_words([passages[place].text for place in shared])
    cut = CutWords(shared, [numbers[passages[place].document] for place in shared], hashes, ends)
    found: dict[tuple[int, int], Overlap] = {}
    for pair, overlap in cut.overlaps():
        if pair not in found or overlap.words > found[pair].words:
            found[pair] = overlap
    return found


_TOP = np.uint64(48)  # bits below those by which most runs that begin no passage are set aside


@dataclass(frozen=True, eq=False, slots=True)
class CutWords:
    """The words of passages in one array, grouped by document."""

    places: Sequence[int]  # (p) place of each passage in the list, ascending in a document
    documents: Sequence[int]  # (p) number of the document of each
    hashes: NDArray[np.uint64]  # (w,) uint64: hashes of their words
    ends: Sequence[int]  # (p + 1) where the words of each begin, and the end

    def overlaps(self) -> Iterator[tuple[tuple[int, int], Overlap]]:
        """Yield the overlaps of each pair in both orders; a pair may have several."""
        words = cache(self._words)
        for (position, begins), starts in self._starts().items():
            own, other = words(position), words(begins)
            begin = first_match(own, other, starts) if own != other else None
            if begin is not None:
                earlier, later = self.places[position], self.places[begins]
                size, least = min(len(own) - begin, len(other)), min(len(own), len(other))
                yield (later, earlier), Overlap(size, "within" if size == len(other) else "after", least)
                yield (earlier, later), Overlap(size, "within" if size == len(own) else "before", least)

    def _starts(self) -> Mapping[tuple[int, int], list[int]]:
        """Return the positions in passages at which another passage of the document may start."""
        starts: dict[tuple[int, int], list[int]] = defaultdict(list)
        begins = [number for number in range(len(self.places)) if self.ends[number + 1] - self.ends[number] >= RUN]
        keys = runs(self.hashes)
        first = keys[[self.ends[number] for number in begins]]
        holders: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, key in zip(begins, first.tolist(), strict=True):
            holders[self.documents[number], key].append(number)
        is_first = np.zeros(1 << 16, np.bool_)
        is_first[first >> _TOP] = True
        rows = np.flatnonzero(is_first[keys >> _TOP])
        numbers = np.searchsorted(self.ends, rows, "right") - 1
        for row, number, key in zip(rows.tolist(), numbers.tolist(), keys[rows].tolist(), strict=True):
            others = holders.get((self.documents[number], key), ())
            if row + RUN > self.ends[number + 1] or (len(others) > MAX_HOLDERS and number >= others[MAX_HOLDERS]):
                continue
            for other in others[:MAX_HOLDERS]:
                if other != number:
                    starts[number, other].append(row - self.ends[number])
        return starts

    def _words(self, passage: int) -> list[int]:
        words: list[int] = self.hashes[self.ends[passage] : self.ends[passage + 1]].tolist()
        return words


def first_match(own: Sequence[object], other: Sequence[object], starts: Sequence[int]) -> int | None:
    """Return the position in one text where the longest overlap with the beginning of the other starts.

    A text of one word again and again may begin anywhere, so where there are several starts no word is compared again
    for each of them.

    >>> first_match([0, 7, 7, 7, 7, 7, 7], [7, 7, 7, 7, 7, 7, 9], [1, 2])
    1
    """
    if len(starts) == 1:
        (start,) = starts
        size = min(len(own) - start, len(other))
        return start if own[start : start + size] == other[:size] else None
    lengths = _prefix_lengths([*other, *own])
    return next((at for at in starts if lengths[len(other) + at] >= min(len(own) - at, len(other))), None)


def _prefix_lengths(words: Sequence[object]) -> list[int]:
    """Return for each position the length of the prefix that starts there (Z algorithm), in linear time.

    The Z function: Main and Lorentz, "An O(n log n) algorithm for finding all repetitions in a string" (1984).

    >>> _prefix_lengths([1, 2, 1, 2, 1])
    [5, 0, 3, 0, 1]
    """
    lengths = [len(words)] + [0] * (len(words) - 1)
    first = end = 0
    for position in range(1, len(words)):
        size = min(lengths[position - first], end - position) if position < end else 0
        while position + size < len(words) and words[size] == words[position + size]:
            size += 1
        lengths[position] = size
        if position + size > end:
            first, end = position, position + size
    return lengths
