"""Which writes to an index were our own: what is left between them is what others wrote meanwhile."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ibidem_engines.holding import Part, Stretch


class OwnWrites:
    """Numbers of writes, kept as runs without gaps: as many as others have written in between.

    >>> own, part = OwnWrites(), Part("news")
    >>> own.add(part, [7, 5, 6, 9])
    >>> [(gap.after, gap.upto) for gap in own.gaps(Stretch(part, 3, 10))]
    [(3, 4), (7, 8), (9, 10)]
    """

    def __init__(self) -> None:
        self._first: defaultdict[Part, list[int]] = defaultdict(list)
        self._last: defaultdict[Part, list[int]] = defaultdict(list)

    def add(self, part: Part, numbers: Iterable[int]) -> None:
        """Take numbers in."""
        for number in sorted(numbers):
            self._add(self._first[part], self._last[part], number)

    def gaps(self, stretch: Stretch) -> Iterator[Stretch]:
        """Yield the parts of a stretch that are not our own."""
        first, last = self._first[stretch.part], self._last[stretch.part]
        after = stretch.after
        for at in range(bisect_left(last, after + 1), len(first)):
            if first[at] > stretch.upto:
                break
            if first[at] - 1 > after:
                yield Stretch(stretch.part, after, first[at] - 1)
            after = max(after, last[at])
        if after < stretch.upto:
            yield Stretch(stretch.part, after, stretch.upto)

    @staticmethod
    def _add(first: list[int], last: list[int], number: int) -> None:
        at = bisect_right(first, number)
        if at and last[at - 1] >= number:
            return
        before, behind = at > 0 and last[at - 1] == number - 1, at < len(first) and first[at] == number + 1
        if before and behind:
            last[at - 1] = last.pop(at)
            first.pop(at)
        elif before:
            last[at - 1] = number
        elif behind:
            first[at] = number
        else:
            first.insert(at, number)
            last.insert(at, number)
