"""Windows of books, parts of books and leaflets, signed as they would be."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import Packed, PackedColumns, pack, unpack
from ibidem_ingest.signatures.sign import sign_batch
from support.books import book, misread_text, page, repaginate
from support.fake_engine import FakeEngine
from support.some import some
from support.windows import SampleWindow

PARTIAL = Policy(level="partial")


@dataclass(frozen=True, slots=True, repr=False)
class Shelf:
    """Signed texts in rank order."""

    packed: Sequence[bytes]  # their packed values
    long: Sequence[bytes]  # their long signatures, encoded; empty for a short text

    @property
    def window(self) -> SampleWindow:
        return SampleWindow(self.packed)

    @property
    def columns(self) -> PackedColumns:
        return PackedColumns.decode(self.packed)

    @property
    def names(self) -> list[DocumentRef]:
        return [(hit.index, hit.id) for hit in self.window.hits]

    def read(self, names: Sequence[DocumentRef]) -> Mapping[DocumentRef, bytes]:
        values = dict(zip(self.names, self.long, strict=True))
        return {name: values[name] for name in names if values.get(name)}

    def matcher(self, policy: Policy = PARTIAL) -> LongTextMatcher:
        return LongTextMatcher(self.names, self.columns.unpack_row, policy, LongSignatureCache(self.read))

    def packed_value(self, row: int) -> Packed:
        return some(unpack(self.packed[row]))

    def decide(self, row: int, other: int, policy: Policy = PARTIAL) -> Evidence | None:
        long = tuple(LongSignatures.decode(self.long[each]) for each in (row, other))
        pair = long if all(each is not None for each in long) else None
        return decide(self.packed_value(row), self.packed_value(other), policy, pair)  # type: ignore[arg-type] # both are there

    def joins(self, row: int, other: int, policy: Policy = PARTIAL) -> bool:
        """Long texts are decided on when one slot of a hundred is equal; what shares none may be looked up."""
        a, b = self.packed_value(row), self.packed_value(other)
        candidates = any(left == right for left, right in zip(a.slots, b.slots, strict=True))
        return candidates and self.decide(row, other, policy) is not None

    def leaders(self, policy: Policy = PARTIAL) -> list[int]:
        """Go down the ranking in the plainest way: a text joins the first lead that it duplicates."""
        leads: list[int] = []
        lead_of = []
        for row in range(len(self.packed)):
            lead = next((each for each in leads if self.joins(row, each, policy)), row)
            leads += [row] if lead == row else []
            lead_of.append(lead)
        return lead_of


class Library(FakeEngine):
    """A list of hits with long signatures."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(shelf.window)
        self.shelf = shelf

    def long_signatures(self, ids: Sequence[DocumentRef]) -> dict[DocumentRef, bytes]:
        self.asked["long"] += 1
        return dict(self.shelf.read(ids))


def text(rng: random.Random) -> str:
    """A part of one of three books, in its own pages or others, or a short text."""
    start = 100 * rng.randrange(3) + rng.randrange(8)
    words = book(*range(start, start + rng.choice([2, 4, 8, 12])))
    kind = rng.randrange(6)
    if kind == 0:
        return repaginate(words, rng.choice([120, 260]))
    if kind == 1:
        return misread_text(words, rng.choice([0.01, 0.1, 0.3]), rng.randrange(99))
    if kind == 2:
        return words.replace("\f", " ")
    if kind == 3:
        return " ".join(page(start)[: rng.choice([3, 60, 140])])
    return words


@cache
def shelf(seed: int, size: int) -> Shelf:
    """Make a window of texts."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    documents = [Document(f"{at:04}", text(rng)) for at in range(size)]
    signatures = sign_batch(documents, None)
    return Shelf(
        [pack(document, each) for document, each in zip(documents, signatures, strict=True)],
        [each.long for each in signatures],
    )


def sign_book(name: str, *numbers: int) -> tuple[bytes, LongSignatures]:
    """Sign one book; gives its packed value and its long signatures."""
    document = Document(name, book(*numbers))
    (signatures,) = sign_batch([document], None)
    return pack(document, signatures), some(LongSignatures.decode(signatures.long))


shelves = st.builds(shelf, st.integers(0, 2**32), st.integers(1, 12))  # Windows of up to twelve texts
