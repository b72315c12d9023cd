"""Books made for tests: pages of distinct words, so that what two books share is known."""

import random

from ibidem_ingest.document import Document
from ibidem_ingest.signatures.long_text import LongSignatures, sign_long
from support.some import some

LETTERS = "abcdefghijklmnoprstuvw"


def page(number: int, words: int = 150) -> list[str]:
    """One page: most of its words occur in no other, some often."""
    rng = random.Random(number)  # noqa: S311 - made-up data keeps no secret
    random_words = ["".join(rng.choices(LETTERS, k=9)) for _ in range(words)]
    return [word for at, word in enumerate(random_words) for word in ([word, "the", "of"] if at % 9 == 0 else [word])]


def book(*numbers: int) -> str:
    return "\f".join(" ".join(page(number)) for number in numbers)


def repaginate(text: str, words: int) -> str:
    """The same text with so many words on a page."""
    every = text.replace("\f", " ").split()
    return "\f".join(" ".join(every[at : at + words]) for at in range(0, len(every), words))


def misread_text(text: str, share: float, seed: int = 1) -> str:
    """The same text with a letter changed in a share of its words, as a machine reads it."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    pages = []
    for part in text.split("\f"):
        words = [f"x{word[1:]}" if rng.random() < share else word for word in part.split()]
        pages.append(" ".join(words))
    return "\f".join(pages)


def must(text: str) -> LongSignatures:
    return some(sign_long(Document("a", text)))
