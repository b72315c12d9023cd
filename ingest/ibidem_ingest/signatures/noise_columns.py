"""Noise blocks of many texts at once, with the same results as `noise` for one text."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel.loops import compiled
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed_columns import PackedColumns

Bools = NDArray[np.bool_]
Rows = NDArray[np.int64]
Codes = NDArray[np.uint8]
Figures = NDArray[np.float64]

# The share of runs that two texts have in common, by equal slots.
ESTIMATES = np.array([noise.estimate(equal) for equal in range(noise.SLOTS + 1)])

RUNS = np.array([2 ** (code / 8) for code in range(256)])  # the number of runs, by its code


def equal_runs(blocks: Codes, a: Rows, b: Rows) -> tuple[Rows, Rows, Bools]:
    """Return for pairs of noise blocks the numbers of equal slots and of slots, and whether a band is equal."""
    return compiled().equal_runs(blocks, (a, b), noise.APART)


def runs_of_a_term(run: Codes) -> Figures:
    """`noise.Noise.runs_of_a_term` for many blocks."""
    return np.where(run == noise.DENSE_RUN, noise.RUNS_OF_A_BIGRAM, noise.RUNS_OF_A_WORD)


def is_noisy(block: Codes, share: float = noise.NOISY, dense: float = noise.NOISY) -> Bools:
    """Return which blocks are noisy: `noise.Noise.is_noisy` for many blocks."""
    unknown = block[:, 66] + 256.0 * block[:, 67]
    lost_runs = unknown * runs_of_a_term(block[:, 64])
    least = np.where(block[:, 64] == noise.DENSE_RUN, dense, share)
    noisy: Bools = (block[:, 64] > 0) & (lost_runs >= least * RUNS[block[:, 65]])
    return noisy


def estimate_difference(share: Figures, a: Figures, b: Figures) -> Figures:
    """`noise.estimate_difference` for many pairs."""
    figures: Figures = (1 - share) / (1 + share) * (a + b)
    return figures


@dataclass(frozen=True, eq=False, slots=True)
class NoiseFigures:
    """Figures of noise blocks without the slots of the character runs, as `noise.read` parses one."""

    runs: Figures  # (n,) about how many runs
    unknown: Figures  # (n,) terms that are in no idf table
    terms: Codes  # (n, 8) slots of these

    @classmethod
    def read(cls, columns: PackedColumns, rows: Rows) -> "NoiseFigures":
        """Parse the blocks of rows."""
        block = columns.noise[rows, noise.SLOTS :]
        return cls(RUNS[block[:, 1]], block[:, 2] + 256.0 * block[:, 3], block[:, 4:])


def differing_terms(a: NoiseFigures, b: NoiseFigures) -> Figures:
    """`noise.estimate_unknown` for many pairs."""
    equal = (a.terms == b.terms).sum(axis=1)
    share = np.maximum(0.0, equal / noise.OF_TERMS - noise.CHANCE)
    return estimate_difference(np.where((a.unknown > 0) & (b.unknown > 0), share, 0.0), a.unknown, b.unknown)
