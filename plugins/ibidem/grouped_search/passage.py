"""Passages of a document: text cut from it, as a retriever finds it, and which of them overlap there."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ibidem_dedupe.word_runs import RUN, hash_words
from ibidem_ingest.errors import UsageError, short_repr

MOST_HOLDERS = 4
"""Passages of a document that may begin with one run: a heading that more of them repeat says nothing from then on.

What follows in a list changes nothing before it, so that a longer list moves no passage of a shorter one.
"""

Side = Literal["before", "after", "within"]

REASONS: Mapping[Side, str] = {
    "before": "precedes it in the same document, {} words overlap",
    "after": "follows it in the same document, {} words overlap",
    "within": "part of it in the same document, {} words",
}


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
        """Return a passage, or a text as a passage of an unknown document.

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
    """Common words at the edges of two passages of one document.

    Args:
        words: How many.
        side: Where the first passage stands, seen from the second.
    """

    words: int
    side: Side

    @property
    def reason(self) -> str:
        """Say why the first passage belongs to the second."""
        return REASONS[self.side].format(self.words)


def overlaps(passages: Sequence[Passage]) -> dict[tuple[int, int], Overlap]:
    """Return the pairs of passages that overlap in their document, each pair in both orders, by their places.

    Words that two passages share at their edges are a run at the least; of several overlaps of two the longest counts.
    The text decides, not a position: loaders count characters from the start of a page or of a file, and do not say
    which. Passages with equal words do not overlap; they are duplicates.

    Args:
        passages: Of any documents; what follows changes nothing between those before.

    >>> cut = [Passage(text, "lease") for text in ("a b c d e f g h", "d e f g h i j k", "x y z")]
    >>> overlaps(cut)[1, 0]
    Overlap(words=5, side='after')
    """
    by_document: dict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(passages):
        if passage.document:
            by_document[passage.document].append(place)
    shared = [places for places in by_document.values() if len(places) > 1]
    hashes, ends = hash_words([passages[place].text for places in shared for place in places])
    words = iter([hashes[start:end].tolist() for start, end in pairwise(ends)])
    found: dict[tuple[int, int], Overlap] = {}
    for places in shared:
        for pair, overlap in _document_overlaps({place: next(words) for place in places}):
            if pair not in found or overlap.words > found[pair].words:
                found[pair] = overlap
    return found


def _document_overlaps(words: Mapping[int, list[int]]) -> Iterator[tuple[tuple[int, int], Overlap]]:
    """Yield the overlaps of one document's passages, given the hashes of their words by place."""
    # By the first word too, so that a run is cut only where one may begin.
    begins: dict[int, dict[tuple[int, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, own in words.items():
        if len(own) >= RUN:
            begins[own[0]][tuple(own[:RUN])].append(place)
    for earlier, own in words.items():
        starts: dict[int, list[int]] = defaultdict(list)
        for start in [at for at, word in enumerate(own) if word in begins]:
            holders = begins[own[start]].get(tuple(own[start : start + RUN]), ())
            if len(holders) > MOST_HOLDERS and earlier >= holders[MOST_HOLDERS]:
                continue
            for later in holders[:MOST_HOLDERS]:
                starts[later].append(start)
        for later, places in starts.items():
            other = words[later]
            begin = first_match(own, other, places) if own != other else None
            if begin is not None:
                size = min(len(own) - begin, len(other))
                yield (later, earlier), Overlap(size, "within" if size == len(other) else "after")
                yield (earlier, later), Overlap(size, "within" if size == len(own) else "before")


def first_match(own: Sequence[object], other: Sequence[object], starts: Sequence[int]) -> int | None:
    """Return where one text first goes on as the other begins, up to the end of either: the longest overlap.

    A text of one word again and again may begin anywhere, so where there are several starts no word is compared again
    for each of them.

    Args:
        own: Words of the one text.
        other: Words of the other.
        starts: Where the first run of the other stands.

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
    """Return for each place how many words from there on are those at the beginning, in linear time.

    The Z function: Main and Lorentz, "An O(n log n) algorithm for finding all repetitions in a string" (1984).

    >>> _prefix_lengths([1, 2, 1, 2, 1])
    [5, 0, 3, 0, 1]
    """
    lengths = [len(words)] + [0] * (len(words) - 1)
    first = end = 0
    for at in range(1, len(words)):
        size = min(lengths[at - first], end - at) if at < end else 0
        while at + size < len(words) and words[size] == words[at + size]:
            size += 1
        lengths[at] = size
        if at + size > end:
            first, end = at, at + size
    return lengths
