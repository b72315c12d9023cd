"""Active learning: choose the pairs whose labels improve a rule most; stop when answers change nothing more.

The first pairs are spread over similarity; from then on each is the one of which the rule so far is least sure
(uncertainty sampling: Lewis and Gale 1994), less so the more often its documents were asked about. Random pairs count
as a little evidence for different texts, and texts beside themselves for equal ones, so that a rule can be learned from
the first answer on.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ibidem.evaluation.evaluate import Collection
from ibidem.evaluation.labels import Pair, order_pair
from ibidem.evaluation.learn import draw_pairs, find_candidates
from ibidem.evaluation.logistic import fit
from ibidem_dedupe.column_rules import Bools, Figures, Pairs, Rows
from ibidem_dedupe.learned import FIGURES, Learned
from ibidem_dedupe.learned_evidence import add_up
from ibidem_dedupe.pair_figures import measure_columns

SPREAD = 20  # the first pairs, spread over similarity

ASSUMED = 0.25  # how much an assumed label weighs, by an answer

TEXTS_THEMSELVES = 20
REPEATED = 0.5  # how much surer a rule counts as about a pair, for each time that one of its documents was asked about

# Answers in a row that change less than this share of the joined pairs end the asking, once a rule asks by itself.
UNCHANGED, CHANGE = 10, 0.005

RESAMPLES = 20  # samples of the answers, drawn with replacement, that give the spread of the expected F1


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected quality of a rule."""

    f1: float  # F1 over all candidates
    spread: float  # its standard deviation over samples of the answers

    def __str__(self) -> str:
        """Format F1 and its spread.

        >>> str(Expectation(0.91, 0.0123))
        '0.910 ± 0.012'
        """
        return f"{self.f1:.3f} ± {self.spread:.3f}"


@dataclass(eq=False, slots=True)
class Inquiry:
    """Answers on pairs, and the rule learned from them."""

    collection: Collection  # signed documents
    answers: dict[int, bool] = field(default_factory=dict)  # labels by the number of the candidate
    a: Rows = field(init=False)
    b: Rows = field(init=False)
    figures: Figures = field(init=False)
    rule: Learned = field(init=False)
    _assumed: tuple[Figures, Bools] = field(init=False)
    _passed: NDArray[np.bool_] = field(init=False)
    _joined: deque[Bools] = field(init=False, default_factory=lambda: deque(maxlen=UNCHANGED + 1))

    def __post_init__(self) -> None:
        """Compute the figures of all candidates; texts with equal content need no label."""
        columns = self.collection.columns
        a, b = find_candidates(columns)
        differ = (columns.content[a] != columns.content[b]).any(axis=1)
        self.a, self.b = a[differ], b[differ]
        self.figures = measure_columns(Pairs(columns, self.a, self.b))
        texts = np.flatnonzero(columns.length > 0)[:TEXTS_THEMSELVES]
        pairs = [Pairs(columns, *draw_pairs(columns)), Pairs(columns, texts, texts)]
        labels = np.repeat([False, True], [len(each.a) for each in pairs])
        self._assumed = np.concatenate([measure_columns(each) for each in pairs]), labels
        self._passed = np.zeros(len(self.a), bool)
        self._learn()

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.a)

    def name(self, number: int) -> Pair:
        """Return the ids of a candidate."""
        ids = self.collection.ids
        return order_pair(ids[self.a[number]], ids[self.b[number]])

    def take(self, answers: dict[Pair, bool]) -> int:
        """Load earlier answers; returns how many concern candidates."""
        numbers = {self.name(number): number for number in range(len(self))} if answers else {}
        known = {numbers[pair]: answer for pair, answer in answers.items() if pair in numbers}
        self.answers |= known
        self._passed[list(known)] = True
        self._learn()
        return len(known)

    def next(self) -> int | None:
        """Return the next candidate to ask about; None if none is left."""
        left = np.flatnonzero(~self._passed)
        if not len(left):
            return None
        asked = int(self._passed.sum())
        if asked < SPREAD:
            similarity = self._similarity()
            target = similarity.min() + (similarity.max() - similarity.min()) * asked / (SPREAD - 1)
            return int(left[np.argmin(np.abs(similarity[left] - target))])
        passed = np.flatnonzero(self._passed)
        times = np.bincount(np.concatenate((self.a[passed], self.b[passed])), minlength=len(self.collection.ids))
        doubt = np.abs(add_up(self.rule, self.figures[left])) + REPEATED * (times[self.a[left]] + times[self.b[left]])
        return int(left[np.argmin(doubt)])

    def _similarity(self) -> Figures:
        """Return the similarity by words or by characters, whichever is higher."""
        names = list(FIGURES)
        similarity: Figures = self.figures[:, [names.index("runs"), names.index("characters")]].max(axis=1)
        return similarity

    def skip(self, number: int) -> None:
        """Skip a pair that cannot be judged."""
        self._passed[number] = True

    def answer(self, number: int, *, is_duplicate: bool) -> None:
        """Learn from the label of a pair."""
        self._passed[number] = True
        self.answers[number] = is_duplicate
        self._learn()

    def _learn(self) -> None:
        self.rule = self._fit(np.array(list(self.answers), np.int64))
        self._joined.append(add_up(self.rule, self.figures) >= 0)

    def _fit(self, numbers: Rows) -> Learned:
        """Fit a rule to a sample of the answers; an answer drawn twice counts twice."""
        assumed, labels = self._assumed
        return fit(
            np.concatenate((self.figures[numbers], assumed)),
            np.concatenate((np.array([self.answers[number] for number in numbers.tolist()], bool), labels)),
            np.repeat([1.0, ASSUMED], [len(numbers), len(labels)]),
        )

    @property
    def is_settled(self) -> bool:
        """Whether the last answers changed almost nothing."""
        if len(self._joined) <= UNCHANGED or self._passed.sum() < SPREAD + UNCHANGED:
            return False
        changed = max(int((each != self._joined[-1]).sum()) for each in self._joined)
        return changed <= CHANGE * max(1, int(self._joined[-1].sum()))

    def expect(self) -> Expectation:
        """Estimate F1 from the probabilities that rules learned from resampled answers assign to every candidate."""
        joined = self._joined[-1]
        numbers = np.array(list(self.answers), np.int64)
        rng = np.random.default_rng(1)
        scores = []
        for _ in range(RESAMPLES):
            sample = rng.choice(numbers, len(numbers)) if len(numbers) else numbers
            totals = np.clip(add_up(self._fit(sample), self.figures), -500, 500)
            chances = 1 / (1 + np.exp(-totals))
            scores.append(2 * chances[joined].sum() / max(1.0, joined.sum() + chances.sum()))
        return Expectation(float(np.mean(scores)), float(np.std(scores)))
