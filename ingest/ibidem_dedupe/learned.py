"""Learned rule: a weighted sum of a pair's figures, fitted to labels by `ibidem tune --learn` (signatures.md).

A pair is near where the sum is not negative: the logistic model of Fellegi and Sunter's weights, fitted to labelled
pairs. A rule is stored with an index, so it is checked as any record: it names every figure once, in the order of the
table, and carries a checksum, because a weight that was changed by hand would group other documents in silence.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

SCHEME = "pf1"  # name of the figures: weights of others are never applied to these

# Every figure of a pair, in the order of a rule's weights, with the part of the sum that people read.
FIGURES: dict[str, str] = {
    "runs": "five-word runs",
    "runs_of_shorter": "five-word runs",
    "runs_of_longer": "five-word runs",
    "bands": "five-word runs",
    "words_changed": "five-word runs",
    "terms": "rare terms",
    "terms_known": "rare terms",
    "characters": "characters",
    "characters_known": "characters",
    "character_pairs": "characters",
    "characters_changed": "characters",
    "unknown_words": "misread words",
    "unknown_rate": "misread words",
    "unknown_equal": "misread words",
    "unknown_lift": "misread words",
    "length_ratio": "lengths",
    "shorter": "lengths",
    "longer": "lengths",
    "numbers_agree": "numbers",
    "numbers_shared": "numbers",
    "numbers_differing": "numbers",
    "numbers_rate": "numbers",
    "numbers_fewer": "numbers",
    "title": "title",
    "fingerprint": "equal hashes",
    "profile": "equal hashes",
    "days": "dates",
    "dated": "dates",
    "source": "source",
}

PARTS = tuple(dict.fromkeys(FIGURES.values()))


@dataclass(frozen=True, slots=True)
class Weight:
    figure: str  # its name
    weight: float  # what one unit of it adds to the sum
    centre: float  # the value at which it adds nothing


@dataclass(frozen=True, slots=True)
class Learned:
    intercept: float  # the sum where every figure has its centre
    weights: tuple[Weight, ...]  # one for each figure, in the order of `FIGURES`
    scheme: str = SCHEME  # name of the figures that it was learned on
    checksum: int = 0  # CRC-32 of all of it; 0 in a new rule, which gets one

    def __post_init__(self) -> None:
        """Validate the values that were read."""
        if self.scheme != SCHEME:
            raise ValueError(
                f"it was learned on the figures {self.scheme!r}, and documents are signed for {SCHEME!r} now: "
                "learn it again with ibidem tune --learn"
            )
        if [each.figure for each in self.weights] != list(FIGURES):
            raise ValueError(f"its weights have to be those of {', '.join(FIGURES)}, in this order")
        if not all(map(isfinite, self._numbers())):
            raise ValueError("a weight is not a finite number")
        checksum = self._sign()
        if self.checksum not in (0, checksum):
            raise ValueError("its weights were changed after it was learned: learn it again with ibidem tune --learn")
        object.__setattr__(self, "checksum", checksum)

    def _numbers(self) -> list[float]:
        return [self.intercept, *(number for each in self.weights for number in (each.weight, each.centre))]

    def _sign(self) -> int:
        numbers = self._numbers()
        return zlib.crc32(self.scheme.encode() + struct.pack(f"<{len(numbers)}d", *numbers)) or 1

    def contributions(self, figures: Sequence[float]) -> list[float]:
        """Return the contribution of each figure to the sum."""
        return [each.weight * (figure - each.centre) for each, figure in zip(self.weights, figures, strict=True)]

    def total(self, figures: Sequence[float]) -> float:
        """Return the sum, added in the order of the figures, as in the columns and the plugin."""
        total = self.intercept
        for each in self.contributions(figures):
            total += each
        return total

    def parts(self, figures: Sequence[float]) -> dict[str, float]:
        """Return the contribution of each part of the figures, in the order of `PARTS`."""
        parts = dict.fromkeys(PARTS, 0.0)
        for part, each in zip(FIGURES.values(), self.contributions(figures), strict=True):
            parts[part] += each
        return parts
