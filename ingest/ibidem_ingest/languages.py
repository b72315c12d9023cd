"""The language of a text that does not say, by py3langid: offline, 4.6 MB, a millisecond for a text."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

DEFAULT = "en"
"""The language of a text that is too short, or too mixed, to tell."""

DETECT = "detect"
"""What stands for a language that the text itself tells."""

READ = 2_000
"""Characters that are looked at, from the middle of a text: its first page may be a title in another language."""

LEAST_LETTERS = 60
LEAST_CERTAINTY = 0.7
"""From which on a language is told; lists of figures and names stay below."""

RELATIVES = (frozenset({"no", "nb", "nn"}), frozenset({"bs", "hr", "sh", "sr"}), frozenset({"id", "ms"}))

NO_LANGUAGE = "zxx"
"""What the library calls a text without words: one that was misread throughout, not one in another language."""

_CODE = re.compile("[a-z]{2,3}")


def detect(text: str) -> str:
    """Tell the language of a text; empty when it is not certain.

    >>> detect("Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen.")
    'de'
    >>> detect("Shr 33 cts vs 28 cts")
    ''
    """
    start = max(0, (len(text) - READ) // 2)
    part = text[start : start + READ]
    if sum(map(str.isalpha, part)) < LEAST_LETTERS:
        return ""
    language, certainty = _identifier().classify(part)
    certain = certainty >= LEAST_CERTAINTY and language != NO_LANGUAGE
    return language if certain and _CODE.fullmatch(language) else ""


def is_code(language: str) -> bool:
    """Return whether a language is named as ISO 639 names it.

    >>> is_code("de"), is_code("German")
    (True, False)
    """
    return _CODE.fullmatch(language) is not None


def alike(one: str, other: str) -> bool:
    """Return whether two languages are one, or relatives that no short text tells apart.

    >>> alike("nb", "no"), alike("de", "nl")
    (True, False)
    """
    return one == other or any({one, other} <= relatives for relatives in RELATIVES)


@cache
def _identifier() -> "LanguageIdentifier":
    """Load the library and its model, which takes half a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - see above

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
