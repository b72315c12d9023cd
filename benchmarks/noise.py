"""Recall of misread copies, by their share of misread letters; written to docs/figures/noise.md.

    python benchmarks/noise.py [--collections FOLDER] [--texts N]

Made by hand: of 2,000 newswire stories of 50 words or more, so many of the letters of a copy are read as others, as
recognition confuses them (e and c, h and b, n and u …), one time in five as any other letter. Pairs of a story and its
copy are duplicates, all other pairs are not, except pairs that are found between the stories as they are. Recall, with
precision behind it: the default figures, those without runs of characters, the preset `scans`, the rule of Conrad, Guo
and Schriber 2003 as published, and datasketch at 0.5 and 0.3.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmark import draw_lots, introduction, options, publish
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_engines.query import Filter
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.text.tokens import tokens
from ibidem_lab.agreement import PairFigures
from ibidem_lab.evaluate import filter_documents, found_pairs, sign_collection, split_refusals
from ibidem_lab.labels import Pair, order_pair
from peers import datasketch_pairs, min_hashes

RATES = (0.02, 0.05, 0.1, 0.2)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CONFUSED = {
    "e": "co",
    "c": "eo",
    "h": "bn",
    "b": "h",
    "n": "u",
    "u": "n",
    "i": "l",
    "l": "i",
    "o": "c",
    "t": "f",
    "f": "t",
}
POLICIES = {
    "near": Policy(),
    "near without runs of characters": Policy(characters=None),
    "near, preset scans": PRESETS["scans"].policy,
    "near, preset conrad2003": PRESETS["conrad2003"].policy,
}


def confuse_letters(text: str, rate: float, rng: random.Random) -> str:
    """Read so many letters as others."""
    return "".join(confuse(letter, rng) if letter.isalpha() and rng.random() < rate else letter for letter in text)


def confuse(letter: str, rng: random.Random) -> str:
    """Read a letter as another one."""
    alike = CONFUSED.get(letter.lower())
    return rng.choice(alike) if alike and rng.random() < 0.8 else rng.choice(LETTERS)


def stories(folder: Path, limit: int) -> list[Document]:
    """Read stories of 50 words or more."""
    norm = (Filter("meta.texttype", "NORM"),)
    documents = filter_documents(split_refusals([], read([folder / "reuters21578" / "docs.jsonl.xz"])), norm, set())
    return list(islice((each for each in documents if len(tokens(each.text)) >= 50), limit))


def figures(true: set[Pair], pairs: set[Pair], clean_pairs: set[Pair]) -> str:
    """Write recall and precision."""
    figures = PairFigures.measure(true, {pair for pair in pairs if not is_clean_pair(pair, clean_pairs)})
    return f"{figures.recall:.3f} ({figures.precision:.3f})"


def is_clean_pair(pair: Pair, clean_pairs: set[Pair]) -> bool:
    """Return whether two stories, or copies of them, are near duplicates without any noise."""
    a, b = (name.removesuffix("~") for name in pair)
    return a != b and order_pair(a, b) in clean_pairs


def rows(documents: Sequence[Document], tables: Tables) -> Iterator[str]:
    """Measure each share of misread letters."""
    widest = Policy(slots=replace(POLICIES["near"].slots, equal=25)) if POLICIES["near"].slots else Policy()
    clean_pairs = {name: found_pairs(sign_collection(documents, tables), each) for name, each in POLICIES.items()}
    alike = set().union(*clean_pairs.values(), found_pairs(sign_collection(documents, tables), widest))
    yield f"| misread | {' | '.join(POLICIES)} | datasketch at 0.5 | datasketch at 0.3 |"
    yield f"|{'---|' * (len(POLICIES) + 3)}"
    for rate in RATES:
        rng = draw_lots(rate)
        copies = [replace(each, id=f"{each.id}~", text=confuse_letters(each.text, rate, rng)) for each in documents]
        collection = sign_collection([*documents, *copies], tables)
        true = {order_pair(each.id, f"{each.id}~") for each in documents}
        cells = [figures(true, found_pairs(collection, each), alike) for each in POLICIES.values()]
        hashes = min_hashes([*documents, *copies], 1)
        cells += [figures(true, datasketch_pairs(collection.ids, hashes, each), alike) for each in (0.5, 0.3)]
        yield f"| {rate:.0%} | {' | '.join(cells)} |".replace("%", " %")


def main() -> None:
    """Print the figures and write the page."""
    arguments = options(__doc__, texts=2_000).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = rows(stories(arguments.collections, arguments.texts), Tables(folder))
        publish("noise", "How many misread copies are found", lines, introduction(__doc__, "Made by hand: "))


if __name__ == "__main__":
    main()
