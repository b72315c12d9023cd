"""Paging through an index: batches sized by the length of documents, so that memory stays bounded."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ibidem_engines.reindex import Marks, Name, ReindexSource, SeqNoRange, SourceDocument

PAGE = 500
"""Documents that are named at once."""

FIRST = 20
"""Documents that are read at first, when nothing is known of their length."""

CHARACTERS = 1_000_000
"""Characters of text that are read at once, as far as the last portion tells."""


class Portions:
    """Reads documents in portions of about as many characters.

    >>> portions = Portions()
    >>> [len(some) for some in portions.cut(range(50))]
    [20, 20, 10]
    >>> portions.learn([50_000, 50_000])
    >>> [len(some) for some in portions.cut(range(50))]
    [20, 20, 10]
    """

    def __init__(self) -> None:
        self._size = FIRST

    def cut(self, names: Sequence[Name]) -> Iterator[Sequence[Name]]:
        """Cut names into portions; each is as large as the ones before allow."""
        at = 0
        while at < len(names):
            some = names[at : at + self._size]
            yield some
            at += len(some)

    def learn(self, lengths: Sequence[int]) -> None:
        """Take in how long some texts were."""
        if lengths:
            self._size = max(1, min(PAGE, CHARACTERS * len(lengths) // max(1, sum(lengths))))


def names(holding: ReindexSource, stretch: SeqNoRange) -> Iterator[Name]:
    """Name the documents of a stretch, in the order of writing; page by page, as they are wanted."""
    while page := holding.names(stretch, PAGE):
        yield from page
        stretch = SeqNoRange(stretch.part, page[-1].order, stretch.upto)


def paged(names: Iterable[Name]) -> Iterator[list[Name]]:
    """Put names into pages."""
    names = iter(names)
    while page := list(islice(names, PAGE)):
        yield page


def whole(upto: Marks) -> list[SeqNoRange]:
    """Return all writes up to some numbers."""
    return [SeqNoRange(part, NONE, last) for part, last in upto.items()]


def everything(holding: ReindexSource, upto: Marks) -> Iterator[list[SourceDocument]]:
    """Read all documents, in the order of writing within each part.

    Args:
        holding: The index.
        upto: Up to which write of each part.
    """
    return within(holding, whole(upto))


def within(
    holding: ReindexSource, stretches: Iterable[SeqNoRange], *, raw: bool = False
) -> Iterator[list[SourceDocument]]:
    """Read the documents that come from some writes, in the order of writing within each part.

    Args:
        holding: The index.
        stretches: The writes.
        raw: Whether their JSON is wanted as well.
    """
    portions = Portions()
    for stretch in stretches:
        for page in paged(names(holding, stretch)):
            for some in portions.cut(page):
                held = holding.read(some, raw=raw)
                portions.learn([max(len(each.document.text), len(each.raw)) for each in held])
                yield held


NONE = 0
"""Number before the first write of any part."""
