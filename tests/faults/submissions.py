"""Submissions of a run of rounds, and the expected documents of the index after each."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ibidem_engines.engine import Engine
from support.empty_index import WORDS

# Of a hundred documents: under a new id; of one that was submitted already: a newer text, the same again, an older.
SHARES = (("new", 60), ("newer", 20), ("same", 12), ("older", 8))

SLICE = 500


class Shelf:
    """Documents with their newest versions."""

    def __init__(self, rng: random.Random, length: int = 40) -> None:
        self.standing: dict[str, tuple[int, str]] = {}
        self._rng, self._length = rng, length
        self._version = 1_000_000
        self._numbers = itertools.count()

    def write(self, path: Path, count: int) -> int:
        """Write a file of so many documents and one that nobody can take; returns the lines."""
        lines = [json.dumps(name) for name in self._documents(count)]
        lines.insert(self._rng.randrange(len(lines)), '{"id": "bad", "text": 7}')
        path.write_text("\n".join(lines))
        return len(lines)

    def _documents(self, count: int) -> Iterator[dict[str, object]]:
        names, shares = zip(*SHARES, strict=True)
        for kind in self._rng.choices(names, shares, k=count):
            self._version += 1
            if kind == "new" or not self.standing:
                yield self._take(f"d{next(self._numbers):06d}", self._version, self._text())
                continue
            name = self._rng.choice(list(self.standing))
            version, text = self.standing[name]
            if kind == "newer":
                yield self._take(name, self._version, self._text())
            elif kind == "same":
                yield self._take(name, self._version, text)
            else:
                yield {"id": name, "version": version - 1, "text": self._text()}

    def _take(self, name: str, version: int, text: str) -> dict[str, object]:
        self.standing[name] = version, text
        return {"id": name, "version": version, "text": text}

    def _text(self) -> str:
        return " ".join(self._rng.choices(WORDS, k=self._length))

    def wrong(self, engine: Engine) -> list[str]:
        """Compare with what is in the index: what is lost, twice there, not the newest, or nobody's."""
        engine.refresh()
        hits = [hit for part in engine.scan() for hit in part]
        faults = [
            f"{name} is there {times} times" for name, times in Counter(hit.id for hit in hits).items() if times > 1
        ]
        faults += [f"{hit.id} is not signed" for hit in hits if hit.packed is None]
        texts = dict(self._read(engine, [(hit.index, hit.id) for hit in hits]))
        faults += [f"{name} is lost" for name in self.standing.keys() - texts.keys()]
        faults += [f"{name} is nobody's" for name in texts.keys() - self.standing.keys()]
        faults += [
            f"{name} stands with version {texts[name][0]} instead of {newest[0]}"
            for name, newest in self.standing.items()
            if name in texts and texts[name] != newest
        ]
        return faults

    def _read(self, engine: Engine, places: list[tuple[str, str]]) -> Iterator[tuple[str, tuple[int, str]]]:
        for at in range(0, len(places), SLICE):
            for entry in engine.fetch(places[at : at + SLICE]):
                yield entry.document.id, (entry.version, entry.document.text)
