"""Endless stream of documents, as of a busy publisher: mostly new ones, with copies and new versions."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path

import xxhash

from benchmark import draw_lots
from ibidem_ingest.document import Document
from stories import stories

# Newswire, pages of a journal, statutes, contracts: drawn in the proportion of their sizes.
COLLECTIONS = {
    "reuters21578": 21_577,
    "philtrans_pages_scale": 92_428,
    "civil_code_sections": 18_396,
    "ota_terms_en": 1_592,
}

# Shares of the kinds: a new document, a copy of one under another id, one with some words changed, a newer version of
# one, and one that came before, unchanged.
SHARES = {"new": 0.75, "copy": 0.10, "near": 0.05, "version": 0.05, "again": 0.05}

REMEMBERED = 5_000  # documents of which copies and new versions are made; they are replaced at random as others come


@dataclass(slots=True)
class Stream:
    """Documents one after the other, and the texts that the index must hold in the end."""

    collections: Path  # the folder of the collections
    seed: int = 8  # seed of the random choices
    newest: dict[str, int] = field(default_factory=dict)  # hash of the newest text of each id
    # Number of documents of each kind so far.
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SHARES, 0))
    _memory: list[Document] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield each document as a line of JSON."""
        for document in self._documents():
            self.newest[document.id] = hash_text(document.text)
            yield json.dumps(document.as_record()) + "\n"

    def _documents(self) -> Iterator[Document]:
        lot = draw_lots(self.seed)
        originals = self._originals(lot)
        kinds, weights = list(SHARES), list(SHARES.values())
        while True:
            (kind,) = lot.choices(kinds, weights) if self._memory else ("new",)
            at = lot.randrange(max(1, len(self._memory)))
            self.counts[kind] += 1
            if kind == "new":
                yield self._remember(next(originals), lot)
            else:
                yield self._vary(kind, at, lot)

    def _vary(self, kind: str, position: int, lot: random.Random) -> Document:
        document, number = self._memory[position], self.counts[kind]
        if kind == "version":
            self._memory[position] = replace(document, text=f"{document.text}\nCorrected for the {number}th time.")
        if kind in {"version", "again"}:
            return self._memory[position]
        text = document.text if kind == "copy" else change_words(document.text, lot)
        return replace(document, id=f"{document.id}-{kind}-{number}", text=text)

    def _remember(self, document: Document, lot: random.Random) -> Document:
        if len(self._memory) < REMEMBERED:
            self._memory.append(document)
        elif lot.random() < REMEMBERED / self.counts["new"]:
            self._memory[lot.randrange(REMEMBERED)] = document
        return document

    def _originals(self, lot: random.Random) -> Iterator[Document]:
        sources = {name: again_and_again(self.collections / name / "docs.jsonl.xz") for name in COLLECTIONS}
        while True:
            (name,) = lot.choices(list(COLLECTIONS), list(COLLECTIONS.values()))
            yield next(sources[name])


def again_and_again(path: Path) -> Iterator[Document]:
    """Read a collection, and once more under new ids, without an end."""
    for turn in count():
        for document in stories(path):
            yield replace(document, id=f"{document.id}-{turn}" if turn else document.id)


def change_words(text: str, lot: random.Random) -> str:
    """Change one word of twenty, as a careless copy does."""
    words = text.split(" ")
    for at in islice((lot.randrange(len(words)) for _ in words), len(words) // 20):
        words[at] = words[at][::-1]
    return " ".join(words)


def hash_text(text: str) -> int:
    """Hash a text."""
    return xxhash.xxh3_64_intdigest(text.encode())
