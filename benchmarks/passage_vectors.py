"""Vectors of passages without a language model: tf-idf, projected at random, which keeps the cosine.

Passages with the same words have the same vector under any model, so this is the case that suits diversity by vectors.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.text.tokens import tokens

DIMENSIONS = 256
Vector = NDArray[np.float64]


def words(text: str) -> list[str]:
    """Cut a text as signatures do."""
    return [str(token) for token in tokens(text)]


@dataclass(eq=False, slots=True)
class Vectors:
    """The vectors of some texts, and of any question about them."""

    texts: Mapping[str, str]  # the texts, by id
    by_name: Mapping[str, Vector] = field(init=False)  # their vectors
    _counts: Counter[str] = field(init=False)
    _base: Mapping[str, Vector] = field(init=False)

    def __post_init__(self) -> None:
        """Draw a direction for each word, and embed the texts."""
        counts = {name: Counter(words(text)) for name, text in self.texts.items()}
        self._counts = Counter(word for each in counts.values() for word in each)
        draw = np.random.default_rng(7)
        self._base = {word: draw.standard_normal(DIMENSIONS) for word in self._counts}
        self.by_name = {name: self._embed(each) for name, each in counts.items()}

    def embed(self, text: str) -> Vector:
        """Return the vector of a text; words that no text of the collection has are passed over."""
        return self._embed(Counter(words(text)))

    def _embed(self, counts: Mapping[str, int]) -> Vector:
        vector = np.zeros(DIMENSIONS)
        for word, times in counts.items():
            if word in self._base:
                idf = math.log((1 + len(self.texts)) / self._counts[word])
                vector += (1 + math.log(times)) * idf * self._base[word]
        return vector / (np.linalg.norm(vector) or 1.0)
