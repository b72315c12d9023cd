"""Bad documents mixed into good ones: each of these must be indexed, and each of those listed with its reason."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.table import small_table
from ibidem_core.settings import load
from ibidem_engines.connect import open_engine
from servers.command_line import Way
from support.empty_index import WORDS

Line = tuple[str, str]  # an id, empty for a document without one, and what is in the file

# Faults of a document, and a line of a file with each.
BAD: dict[str, Callable[[str], str]] = {
    "no JSON": lambda name: f'{{"id": "{name}", "text": ',
    "no text": lambda name: json.dumps({"id": name, "title": "nothing else"}),
    "a number for a text": lambda name: json.dumps({"id": name, "text": 7}),
    "a date that is a list": lambda name: json.dumps({"id": name, "text": "good", "date": ["2020-01-01"]}),
    "an empty id": lambda _: json.dumps({"id": "", "text": "good"}),
    "an id that is too long": lambda name: json.dumps({"id": name * 200, "text": "good"}),
    "a version that is no number": lambda name: json.dumps({"id": name, "text": "good", "version": "newest"}),
    "too long a text": lambda name: json.dumps({"id": name, "text": "long " * 400}),
}

MAX_TEXT = 1_000


@dataclass(frozen=True)
class Mixed:
    """The result of ingesting a file of good and bad documents."""

    good: int  # how many good ones were submitted
    bad: int  # how many bad ones
    indexed: int  # how many are in the index
    listed: int  # how many are listed with a reason
    reasons: dict[str, int]  # how often each kind of fault was submitted
    wrong: list[str]  # what should not be, in words
    seconds: float  # what it took

    def lines(self) -> Iterator[str]:
        """Tell it in Markdown."""
        yield (
            f"{self.good:,} good documents with {self.bad:,} bad ones among them: {self.indexed:,} indexed, "
            f"{self.listed:,} listed with place and reason, {len(self.wrong)} out of place; {self.seconds:.0f} s."
        )
        yield from ("", "| what is bad | documents |", "|---|---|")
        yield from (f"| {kind} | {count:,} |" for kind, count in self.reasons.items())
        yield from self.wrong[:20]


def mixed(rng: random.Random, good: int, bad: int) -> list[tuple[str, str]]:
    """Make lines in random order, each with the kind of its fault, empty for a good one."""
    kinds = list(BAD)
    lines = [("", json.dumps({"id": f"good-{at}", "text": " ".join(rng.choices(WORDS, k=12))})) for at in range(good)]
    lines += [(kind, BAD[kind](f"bad-{at}")) for at in range(bad) for kind in [kinds[at % len(kinds)]]]
    rng.shuffle(lines)
    return lines


def taken_in(folder: Path, lines: list[tuple[str, str]]) -> Mixed:
    """Take a file in into SQLite, and compare what became of each line."""
    path = folder / "mixed.jsonl"
    path.write_text("\n".join(line for _, line in lines))
    small_table(folder)
    way = Way(folder, f"sqlite:////{folder}/index.sqlite", "", MAX_TEXT=MAX_TEXT, CONCURRENCY=2)
    began = time.monotonic()
    account: dict[str, Any] = way.json("ingest", str(path), exit_code=3, timeout=3_600)
    took = time.monotonic() - began
    settings = load(way.environment, folder)
    engine = open_engine(settings.engine, settings.index)
    indexed_ids = {hit.id for part in engine.scan() for hit in part}
    engine.close()
    faults = {f"{path}:{at}": kind for at, (kind, _) in enumerate(lines, 1) if kind}
    listed = {refusal["where"]: refusal["why"] for refusal in account["refusals"] if refusal["why"]}
    good = {json.loads(line)["id"] for kind, line in lines if not kind}
    problems = [f"{name} is not indexed" for name in good - indexed_ids] + [
        f"{name} is indexed" for name in indexed_ids - good
    ]
    problems += [f"{where} is not listed: {faults[where]}" for where in faults.keys() - listed.keys()]
    problems += [f"{where} is listed: {listed[where]}" for where in listed.keys() - faults.keys()]
    return Mixed(len(good), len(faults), len(indexed_ids), len(listed), dict(Counter(faults.values())), problems, took)
