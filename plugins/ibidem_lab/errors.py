"""Error analysis: the page of pairs on which detection and labels disagree, the worst first."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from ibidem.comparison.compare import Signals, signals
from ibidem.grouped_search.explanations import guards, reason
from ibidem_dedupe.decision import decide
from ibidem_dedupe.pairs import LongTextMatcher
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.reasons import Why
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_lab.labels import Pair

MAX_LISTED = 10  # so many are listed, half of either kind where there are enough of both

SLICE = 50_000  # pairs that are compared at once: bounds the memory

Kind = Literal["missed", "wrong"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A pair on which labels and signatures disagree."""

    a: str  # one document's id
    b: str  # the other's
    kind: Kind  # `missed`: a duplicate by the labels alone; `wrong`: one by the signatures alone
    alike: float  # share of equal min-hash slots, 0 to 1
    why: str  # the reason in words
    signals: Signals  # signals of the pair, by signature

    def as_json(self) -> dict[str, object]:
        """Return the error as shown by `ibidem evaluate --json`."""
        return {"a": self.a, "b": self.b, "kind": self.kind, "why": self.why, "signals": self.signals}


@dataclass(frozen=True, eq=False, slots=True)
class SignedDocuments:
    """The documents of pairs of ids."""

    ids: Sequence[str]  # their ids, by row
    columns: PackedColumns  # their packed values
    policy: Policy  # the figures of the decision
    matcher: LongTextMatcher | None = None  # decides on pairs of long texts; None where these are no duplicates

    def worst(self, true: AbstractSet[Pair], pairs: AbstractSet[Pair], limit: int = MAX_LISTED) -> list[Mistake]:
        """Return the worst errors: the most similar missed pairs, and the least similar wrong pairs."""
        missed_pairs, false_pairs = self.sort_pairs(true - pairs)[::-1], self.sort_pairs(pairs - true)
        share = max(limit // 2, limit - len(false_pairs))
        first = [self.mistake(pair, "missed", alike) for alike, pair in missed_pairs[:share]]
        return first + [self.mistake(pair, "wrong", alike) for alike, pair in false_pairs[: limit - len(first)]]

    def sort_pairs(self, pairs: Iterable[Pair]) -> list[tuple[float, Pair]]:
        """Sort pairs, the least similar first."""
        row = {name: number for number, name in enumerate(self.ids)}
        iterator = iter(sorted(pairs))
        entries: list[tuple[float, Pair]] = []
        while batch := list(islice(iterator, SLICE)):
            rows = np.array([[row[a], row[b]] for a, b in batch])
            slots, has_slots = self.columns.slots, self.columns.slot_count > 0
            resemblance = (slots[rows[:, 0]] == slots[rows[:, 1]]).mean(axis=1) * has_slots[rows].all(axis=1)
            entries += zip(resemblance.tolist(), batch, strict=True)
        return sorted(entries)

    def mistake(self, pair: Pair, kind: Kind, alike: float) -> Mistake:
        """Describe a pair on which the decision was wrong."""
        rows = [self.ids.index(name) for name in pair]
        a, b = (self.columns.unpack_row(row) for row in rows)
        if a is None or b is None:
            return Mistake(*pair, kind, alike, "one of them has no words to sign", {})
        evidence = self.matcher.evidence(*rows) if self.matcher is not None else decide(a, b, self.policy)
        weights = signals(a, b)
        why = reason(evidence.why, pair[1]) if evidence else insufficient_share(weights)
        return Mistake(*pair, kind, alike, why, weights)


def insufficient_share(signals: Signals) -> str:
    """Return the similarity of a pair, which was not sufficient.

    >>> insufficient_share({"length": {"ratio": 0.5}, "minhash": {"shared": 31, "of": 100, "band": True}})
    'only about 47 % of the text shared, one is 50 % shorter'
    """
    parts = [
        part for name in ("minhash", "termvector") if name in signals for part in [shared_share(name, signals[name])]
    ]
    figures: dict[str, object] = {"length_ratio": signals["length"].get("ratio")}
    if "numbers" in signals:
        figures["numbers_agree"] = signals["numbers"]["agree"]
    return f"only {', '.join([*parts, *guards(figures)])}" if parts else "one of them has no words to sign"


def shared_share(name: str, figures: Why) -> str:
    """Return how much of a signature two documents share."""
    share = reason({"signature": name, **figures})
    if name == "minhash" and not figures["band"]:
        return f"{share} and no band of three"
    return f"{share} (fewer than 60 rare terms)" if figures.get("full") is False else share
