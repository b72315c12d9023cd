"""Manual overrides: a user marks a pair `same` or `not`; overrides take precedence over signatures.

*Not* keeps a pair apart. *Same* is evidence for that pair only: it acts when one of the two is the first occurrence of
its group; otherwise the hit says so. A word is stale when a text has changed since: it is reported then, not followed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import orjson

from ibidem_core.errors import parse_record
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.policy import Level
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import PackedColumns

Pair = tuple[int, int]  # two rows


@dataclass(frozen=True, slots=True)
class PairConstraints:
    """Manual decisions on pairs of rows; they beat all evidence (how-it-works.md, "Policy")."""

    same: frozenset[Pair] = frozenset()  # pairs declared the same
    different: frozenset[Pair] = frozenset()  # pairs declared no duplicates

    def renumber(self, rows: Mapping[int, int]) -> "PairConstraints":
        """Return those on some rows, by other numbers in the same order."""
        pairs = ((each for each in pairs if rows.keys() >= {*each}) for pairs in (self.same, self.different))
        return PairConstraints(*(frozenset((rows[a], rows[b]) for a, b in some) for some in pairs))


Verdict = Literal["not", "same"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

DocumentRef = tuple[str, str]  # name of a document everywhere: its index and its id


def pair_key(pair: Iterable[Sequence[str]]) -> str:
    """Return the key of a decision on a pair, in either order.

    >>> pair_key([("news", "b"), ("news", "a")])
    '[["news","a"],["news","b"]]'
    """
    return orjson.dumps(sorted(pair)).decode()


@dataclass(frozen=True, slots=True)
class Override:
    """A manual decision on a pair."""

    a: DocumentRef  # one document
    b: DocumentRef  # the other
    verdict: Verdict  # `not` or `same`
    author: str = ""  # name of the person who said it
    reason: str = ""  # why
    date: str = ""  # when, ISO 8601
    content_a: str = ""  # content hash of the one when it was said: `ch4:` and 32 hex digits
    content_b: str = ""  # content hash of the other

    def __post_init__(self) -> None:
        """Refuse an unknown verdict and a pair of one document."""
        if self.verdict not in VERDICTS:
            raise UsageError(f"verdict {self.verdict!r} is not known", f"allowed: {', '.join(VERDICTS)}")
        if self.a == self.b:
            raise UsageError(f"{self.a[1]!r} is one document", "an override needs two documents")

    @property
    def key(self) -> str:
        """Key in the ledger: the pair in either order, so that a later override replaces an earlier one."""
        return pair_key((self.a, self.b))

    def as_record(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__} | {"a": list(self.a), "b": list(self.b)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Override":
        """Parse a record of `as_record`; unknown fields are ignored."""
        return parse_record(cls, {name: record[name] for name in cls.__slots__ if name in record})

    def evidence(self, level: Level) -> Evidence:
        reasons = {"signature": "override", "author": self.author, "reason": self.reason, "date": self.date}
        return Evidence(level, "override", 1.0, reasons)


@dataclass(frozen=True, slots=True)
class AppliedOverrides:
    """The manual decisions on documents of a window."""

    valid: Mapping[tuple[int, int], Override]  # words that hold, by the pair of rows, the earlier first
    stale: Mapping[tuple[int, int], Override]  # words about texts that have changed since

    @property
    def constraints(self) -> PairConstraints:
        """Constraints that the grouping has to follow."""
        must_link = frozenset(pair for pair, word in self.valid.items() if word.verdict == "same")
        return PairConstraints(must_link, frozenset(self.valid) - must_link)

    def head(self, rows: int) -> "AppliedOverrides":
        """Return the overrides on pairs of the first rows."""
        valid, stale = (
            {pair: word for pair, word in words.items() if max(pair) < rows} for words in (self.valid, self.stale)
        )
        return AppliedOverrides(valid, stale)

    def for_row(self, row: int) -> Iterator[tuple[int, Override, bool]]:
        """Yield the overrides on a row: the other row, the override, and whether it is valid."""
        for words, holds in ((self.valid, True), (self.stale, False)):
            for (first, second), word in words.items():
                if row in (first, second):
                    yield (second if row == first else first), word, holds


def apply_overrides(
    overrides: Iterable[Override], names: Iterable[DocumentRef], columns: PackedColumns
) -> AppliedOverrides:
    """Find the manual decisions on pairs of a window, and which of them are valid."""
    words = list(overrides)
    ours = {name for word in words for name in (word.a, word.b)}
    rows = {name: row for row, name in enumerate(names) if name in ours} if words else {}
    valid: dict[tuple[int, int], Override] = {}
    stale: dict[tuple[int, int], Override] = {}
    for word in words:
        if word.a in rows and word.b in rows:
            a, b = rows[word.a], rows[word.b]
            holds = is_unchanged(columns, a, word.content_a) and is_unchanged(columns, b, word.content_b)
            (valid if holds else stale)[min(a, b), max(a, b)] = word
    return AppliedOverrides(valid, stale)


def is_unchanged(columns: PackedColumns, row: int, content: str) -> bool:
    """Return whether a row's text is unchanged since the override.

    Without a hash, or with one of another scheme, nothing speaks against it: a manual decision outlives the signatures.
    """
    scheme = f"ch{columns.scheme[row]}:"
    if not content.startswith(scheme):
        return True
    digits = columns.content[row].astype("<u8").tobytes().hex() if columns.length[row] else f"none:{columns.ids[row]}"
    return content == scheme + digits


@dataclass(frozen=True)
class Overrides:
    """All manual decisions of an index."""

    words: Sequence[Override] = ()  # the decisions

    @cached_property
    def names(self) -> frozenset[DocumentRef]:
        """The documents with a manual decision."""
        return frozenset(self._partners)

    @cached_property
    def _partners(self) -> Mapping[DocumentRef, Sequence[DocumentRef]]:
        partners: defaultdict[DocumentRef, list[DocumentRef]] = defaultdict(list)
        for word in self.words:
            for name, other in ((word.a, word.b), (word.b, word.a)):
                partners[name] += [other] if word.verdict == "same" else []
        return partners

    def partners(self, names: Iterable[DocumentRef]) -> set[DocumentRef]:
        """Return the documents that an override marks as the same as one of the given documents."""
        return {other for name in self.names.intersection(names) for other in self._partners[name]}
