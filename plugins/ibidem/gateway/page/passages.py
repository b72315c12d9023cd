"""Titles, passages and differences as pieces that a template writes one by one, so that all of it is escaped."""

from dataclasses import dataclass
from typing import Literal

from ibidem.differing import difference, shortened
from ibidem.linkedtext import readable
from ibidem_engines.engine import HIGHLIGHT

OPEN, CLOSE = HIGHLIGHT

Kind = Literal["same", "word", "lead", "duplicate", "gap"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of text.

    Args:
        text: What it says.
        kind: `same`: plain; `word`: a word of the query; `lead` or `duplicate`: only in one of two; `gap`: left out.
    """

    text: str
    kind: Kind = "same"


def marked(passage: str) -> list[Stretch]:
    """Cut a passage at the marks around the query's words.

    Args:
        passage: A snippet or title.

    >>> [(each.text, each.kind) for each in marked(f"the {OPEN}court{CLOSE} held")]
    [('the ', 'same'), ('court', 'word'), (' held', 'same')]
    """
    head, *rest = " ".join(passage.split()).split(OPEN)
    found = [Stretch(readable(head))]
    for part in rest:
        word, _, after = part.partition(CLOSE)
        found += [Stretch(readable(word), "word"), Stretch(readable(after))]
    return [each for each in found if each.text]


def differing(lead: str, duplicate: str) -> list[Stretch]:
    """Return what differs between two texts, with a few common words around it; empty when no word does.

    Args:
        lead: The one text.
        duplicate: The other.
    """
    return [
        Stretch("…" if piece.kind == "gap" else readable(shortened(piece.words)), piece.kind)
        for piece in difference(lead, duplicate)
    ]
