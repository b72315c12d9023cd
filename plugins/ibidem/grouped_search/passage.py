"""Passages: texts cut from documents by a retriever, and which passages overlap."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.relations import RUN, hash_words, runs
from ibidem_ingest.errors import UsageError, short_repr

# Passages of a document that may begin with the same run: a heading that more of them repeat is ignored from then on.
# What follows in a list changes nothing before it, so that a longer list moves no passage of a shorter one.
MAX_HOLDERS = 4

MAX_STARTS = 1_000  # places where an overlap may begin: in a text of one word again and again it is each of them

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


class Overlap(NamedTuple):
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
    hashes, ends = hash_words([passages[place].text for place in shared])
    found: dict[tuple[int, int], Overlap] = {}
    for (number, begins), starts in _starts([passages[place].document for place in shared], hashes, ends).items():
        own, other = hashes[ends[number] : ends[number + 1]], hashes[ends[begins] : ends[begins + 1]]
        matches = (at for at in starts if np.array_equal(own[at : at + len(other)], other[: len(own) - at]))
        if np.array_equal(own, other) or (begin := next(matches, None)) is None:
            continue
        size, least = min(len(own) - begin, len(other)), min(len(own), len(other))
        earlier, later = shared[number], shared[begins]
        behind = Overlap(size, "within" if size == len(other) else "after", least)
        before = Overlap(size, "within" if size == len(own) else "before", least)
        for pair, overlap in (((later, earlier), behind), ((earlier, later), before)):
            if pair not in found or size > found[pair].words:
                found[pair] = overlap
    return found


_TOP = np.uint64(48)  # bits below those by which most runs that begin no passage are set aside


def _starts(
    documents: Sequence[str], hashes: NDArray[np.uint64], ends: Sequence[int]
) -> Mapping[tuple[int, int], list[int]]:
    """Return the positions in passages at which another passage of the document may start.

    `documents` are those of the passages, `hashes` all their words, which begin and end at `ends`.
    """
    starts: dict[tuple[int, int], list[int]] = defaultdict(list)
    begins = [number for number in range(len(documents)) if ends[number + 1] - ends[number] >= RUN]
    keys = runs(hashes)
    first = keys[[ends[number] for number in begins]]
    holders: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, key in zip(begins, first.tolist(), strict=True):
        holders[documents[number], key].append(number)
    is_first = np.zeros(1 << 16, np.bool_)
    is_first[first >> _TOP] = True
    rows = np.flatnonzero(is_first[keys >> _TOP])
    numbers = np.searchsorted(ends, rows, "right") - 1
    for row, number, key in zip(rows.tolist(), numbers.tolist(), keys[rows].tolist(), strict=True):
        others = holders.get((documents[number], key), ())
        if row + RUN > ends[number + 1] or (len(others) > MAX_HOLDERS and number >= others[MAX_HOLDERS]):
            continue
        for other in others[:MAX_HOLDERS]:
            if other != number and len(starts[number, other]) < MAX_STARTS:
                starts[number, other].append(row - ends[number])
    return starts
