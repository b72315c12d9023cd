"""Policy of the pair decision: the levels, and every threshold.

Learned rule: a weighted sum of a pair's figures, fitted to labels by `ibidem tune --learn` (signatures.md).

A pair is near where the sum is not negative: the logistic model of Fellegi and Sunter's weights, fitted to labelled
pairs. A rule is stored with an index, so it is checked as any record: it names every figure once, in the order of the
table, and carries a checksum, because a weight that was changed by hand would group other documents in silence.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite
from typing import Literal, get_args

from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.minhash import BAND_ROWS, band_rows
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS

SCHEME = "pf1"  # name of the figures: weights of others are never applied to these

# Every figure of a pair, in the order of a rule's weights, with the part of the sum that people read.
FIGURES: dict[str, str] = {
    figure: part
    for part, figures in (
        ("five-word runs", "runs runs_of_shorter runs_of_longer bands words_changed"),
        ("rare terms", "terms terms_known"),
        ("characters", "characters characters_known character_pairs characters_changed"),
        ("misread words", "unknown_words unknown_rate unknown_equal unknown_lift"),
        ("lengths", "length_ratio shorter longer"),
        ("numbers", "numbers_agree numbers_shared numbers_differing numbers_rate numbers_fewer"),
        ("title", "title"),
        ("equal hashes", "fingerprint profile"),
        ("dates", "days dated"),
        ("source", "source"),
    )
    for figure in figures.split()
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
        numbers = [self.intercept, *(number for each in self.weights for number in (each.weight, each.centre))]
        if not all(map(isfinite, numbers)):
            raise ValueError("a weight is not a finite number")
        checksum = zlib.crc32(self.scheme.encode() + struct.pack(f"<{len(numbers)}d", *numbers)) or 1
        if self.checksum not in (0, checksum):
            raise ValueError("its weights were changed after it was learned: learn it again with ibidem tune --learn")
        object.__setattr__(self, "checksum", checksum)

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


Level = Literal["identical", "near", "partial"]
LEVELS: tuple[Level, ...] = get_args(Level)

ROUNDING = 1e-9

LONG_TOKENS = 3_000  # of each text, from which on `Slots.long` counts for a pair


@dataclass(frozen=True, slots=True)
class Slots:
    """Min-hash evidence (signatures.md 4)."""

    equal: int = 50  # the least number of equal slots, of 100; a band must be equal too
    long: int | None = None  # the same for two texts of `LONG_TOKENS` each; None: as many

    def needed(self, shorter: int) -> int:
        """Return the least number of equal slots for a pair whose shorter text has so many tokens."""
        return self.equal if self.long is None or shorter < LONG_TOKENS else self.long


@dataclass(frozen=True, slots=True)
class Terms:
    """Feature-set evidence (signatures.md 3; Conrad 2003, section 7)."""

    share: float = 40 / FULL_SET  # the least score: shared terms, of the smaller set
    full: bool = True  # whether only full sets count: 60 terms of the idf table and no pads
    smallest: int = FULL_SET  # the smallest set that counts
    lengths: float = 0.95  # the least share of the longer text that the shorter one's length is
    numbers: bool = True  # whether the numbers have to agree


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Fingerprint evidence (signatures.md 2): equal strict fingerprints that are not weak, and equal numbers."""

    lengths: float = 0.95  # the least share of the longer text that the shorter one's length is
    shortest: int = 50  # the fewest tokens of a text for which it counts


# How many times as many unknown words are asked for of a pair that shares fewer runs than `Characters.share`.
DISTANT_UNKNOWN = 2.0


@dataclass(frozen=True, slots=True)
class Characters:
    """Evidence of scanned and misread texts (`signatures.noise`): shared characters, misread words."""

    share: float = 0.38  # the least share of the runs of characters that both have
    unknown: float = 0.12  # the least share of words that no list knows, among the words in which the two differ
    numbers: float = 0.3  # how much more of them are asked for, for each number among these: news differ in figures
    lengths: float = 0.8  # the least share of the longer text that the shorter one's length is
    # How many times as often, at the least, an unknown word differs as any run of characters: names that no list knows
    # are the same in both texts of a pair, misread words are not.
    lift: float = 1.6
    few: bool = False  # whether it counts where the idf table has few terms, so that many good words are unknown
    pairs: int = 3  # minimum number of equal pairs of slots, of the 32 that look-ups use
    # The least share of the runs where `DISTANT_UNKNOWN` times `unknown` is asked for: a text in which every second
    # word is misread.
    distant: float = 0.3
    # The least share of unknown words (`noise.Noise.is_noisy`) that one of the two texts has, and of unknown pairs of
    # letters where letters are syllables or words.
    misread: float = noise.MIN_NOISE
    misread_dense: float = noise.MIN_NOISE

    @property
    def least_share(self) -> float:
        """The minimum share of runs for any pair."""
        return min(self.share, self.distant)


@dataclass(frozen=True, slots=True)
class ContainmentRule:
    """Containment evidence of texts, unless both are long (signatures.md 4)."""

    share: float = 0.8  # the least share of the smaller text's shingles that the other holds, as min-hash estimates it
    shortest: int = 50  # the fewest tokens of the smaller text


@dataclass(frozen=True, slots=True)
class Policy:
    """Every threshold of the decision on a pair (how-it-works.md); None disables a kind of evidence."""

    level: Level = "near"  # the weakest level that still joins two documents
    window_days: int | None = None  # most days between two dates for anything but identity; None: dates do not matter
    slots: Slots | None = Slots()  # min-hash
    terms: Terms | None = Terms()  # feature sets
    fingerprint: Fingerprint | None = Fingerprint()
    profile: float | None = None  # least ratio of lengths for equal text profiles; the numbers must agree too
    characters: Characters | None = Characters()  # runs of characters, and words that were read wrongly
    contained: ContainmentRule | None = ContainmentRule()  # containment of shingles, at `partial`
    related: float | None = 0.5  # relations of long texts, at `partial`: the least confidence
    # A rule learned from labels. It judges candidates, so no other evidence of near duplicates counts beside it; titles
    # and numbers have weights there and exclude no pair.
    learned: Learned | None = None
    indexed: bool = False  # whether a pair has to share a key that an index stores, so that look-ups find every pair

    @property
    def band_rows(self) -> int:
        """Slots of the band that two texts must share; an index stores bands of three."""
        return BAND_ROWS if self.indexed or self.slots is None else band_rows(self.slots.equal)

    @classmethod
    def from_rule(cls, rule: Learned) -> "Policy":
        """Return the policy of a learned rule."""
        return cls(slots=None, terms=None, fingerprint=None, characters=None, learned=rule)

    @property
    def candidates(self) -> "Policy":
        """The policy for candidates: this one, or a looser one for a learned rule."""
        if self.learned is None:
            return self
        return replace(
            self,
            slots=Slots(12),
            terms=Terms(share=0.6, lengths=0.3, numbers=False),
            fingerprint=Fingerprint(lengths=0.0, shortest=5),
            characters=Characters(share=0.12, unknown=0.0, numbers=0.0, lengths=0.4, lift=0.0, few=True, pairs=2),
            learned=None,
        )

    def at(self, level: Level) -> "Policy":
        """Return the same policy at another level."""
        return replace(self, level=level)

    def within(self, days: int | None) -> "Policy":
        """Return the same policy with another date window."""
        return replace(self, window_days=days)

    def similar(self, percent: int) -> "Policy":
        """Return the same policy with another minimum share of common text (signatures.md, "Similarity").

        Of two texts of n runs that share c · n of them, Jaccard's index is c / (2 - c); of two sets of 60 terms that
        share c · 60 the score is c. So one share sets both measures; kinds of evidence that do not count stay so.

        >>> Policy().similar(80).slots, Policy().similar(66).slots == Policy().slots
        (Slots(equal=67, long=None), True)
        """
        return replace(
            self,
            slots=self.slots and Slots(min_equal_slots(percent)),
            terms=self.terms and replace(self.terms, share=percent / 100),
        )


# The rules of collections of clean and of misread texts, which `collection` tells apart.
CLEAN = Policy(terms=None, characters=Characters(misread=noise.MISREAD, misread_dense=noise.MISREAD_DENSE))
MISREAD = Policy(characters=Characters(misread_dense=0.3))


def min_equal_slots(percent: int) -> int:
    """Return the minimum equal slots of texts with a percentage in common: 100 c / (2 - c), rounded up.

    >>> min_equal_slots(66), min_equal_slots(100)
    (50, 100)
    """
    return -(-SLOTS * percent // (200 - percent))


def min_shared_terms(share: float, size: int) -> int:
    """Return the minimum number of shared terms for a score.

    >>> min_shared_terms(40 / 60, 60), min_shared_terms(0.8, 35)
    (40, 28)
    """
    return ceil(share * size - ROUNDING)
