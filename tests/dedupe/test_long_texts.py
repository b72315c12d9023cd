"""Long signatures are read together, once, and only so many are kept."""

from collections.abc import Mapping, Sequence

from ibidem.dedupe.long_texts import LongSignatureCache, no_long_signatures
from ibidem.dedupe.overrides import DocumentRef
from support.signed_books import long

PACKED, BOOK = long("a", 1, 2, 3)
VALUE = BOOK.encode()


class Reader:
    """Counts what is read."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, names: Sequence[DocumentRef]) -> Mapping[DocumentRef, bytes]:
        self.asked.append([name for _, name in names])
        return {name: VALUE for name in names if name[1] != "short"}


def test_what_was_read_is_not_read_again() -> None:
    reader = Reader()
    long_signatures = LongSignatureCache(reader)
    long_signatures.want([("i", "a"), ("i", "b"), ("i", "a")])
    assert long_signatures.of(("i", "a")) is not None
    long_signatures.want([("i", "b"), ("i", "c")])
    assert reader.asked == [["a", "b"], ["c"]]


def test_a_short_text_has_none_and_is_asked_for_once() -> None:
    reader = Reader()
    long_signatures = LongSignatureCache(reader)
    assert long_signatures.of(("i", "short")) is None
    assert long_signatures.of(("i", "short")) is None
    assert reader.asked == [["short"]]
    assert LongSignatureCache(no_long_signatures).of(("i", "a")) is None


def test_beyond_the_bound_those_asked_for_longest_ago_are_read_again() -> None:
    reader = Reader()
    long_signatures = LongSignatureCache(reader, most=2 * len(VALUE))
    long_signatures.want([("i", "a"), ("i", "b")])
    long_signatures.of(("i", "a"))
    long_signatures.of(("i", "c"))
    long_signatures.of(("i", "a"))
    assert reader.asked == [["a", "b"], ["c"]]
    long_signatures.of(("i", "b"))
    assert reader.asked[2:] == [["b"]]


def test_without_a_reader_it_is_told_what_is_missing_until_it_is_given() -> None:
    long_signatures = LongSignatureCache()
    assert long_signatures.of(("i", "a")) is None
    assert long_signatures.of(("i", "short")) is None
    assert long_signatures.missing == {("i", "a"), ("i", "short")}
    long_signatures.take({("i", "a"): VALUE})
    assert long_signatures.missing == set()
    assert long_signatures.of(("i", "a")) is not None
    assert long_signatures.of(("i", "short")) is None
    assert long_signatures.missing == set()


def test_what_is_given_beyond_the_bound_counts_as_short() -> None:
    long_signatures = LongSignatureCache(most=len(VALUE))
    long_signatures.want([("i", "a"), ("i", "b")])
    long_signatures.take({("i", "a"): VALUE, ("i", "b"): VALUE})
    assert long_signatures.of(("i", "a")) is not None
    assert long_signatures.of(("i", "b")) is None
    assert long_signatures.missing == set()
