"""How well versions of one work are found; written to docs/figures/works.md.

    python benchmarks/works.py [--collections FOLDER] --licenses FILE

The collection is `ota_terms_en`: 1,592 versions of 326 documents of services on the web. Which ones belong together is
the source's own word. The shares of text that two documents need were chosen on one half of the works; *held out* is
the other half. Pairs of renamed services with the same text, of which the labels do not speak, do not count. Titles are
taken as they are, with marks added (`v3`, `draft`, a year, `as amended`), without the service's name, so that many
documents are called "Privacy Policy", and left out, so that there is a first line at most.

Statutes: licences, with the texts and the names of the SPDX list (`spdx-full.json` of the npm package
`spdx-license-list`): those whose short name ends in a number, which is left out of the work's (`MPL-1.1` and `MPL-2.0`
are two versions of `MPL`). And codes of civil procedure of American states, 1829 to 1870 (`civil_code_sections`, OCR,
the sections of each joined), of which those of one state count as versions of one work, although some were written
anew, and states copied each other's codes. Two rules (numbers with a point, longer names with numbers) were written
when errors in the licences had been read; no share was chosen on either.
"""

import csv
import lzma
import random
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

import orjson

from benchmark import draw_lots, options, publish
from ibidem_ingest.document import Document, read_record
from ibidem_mail.version_order import versions
from ibidem_mail.versioned_document import versioned_documents
from ibidem_mail.works import Works

NAME = "ota_terms_en"
Rename = Callable[[Document, random.Random], str]


def add_marks(document: Document, rng: random.Random) -> str:
    """Add a version mark to a title, or none."""
    marks = (
        "{}",
        f"{{}} v{rng.randrange(1, 9)}",
        f"{{}} ({rng.randrange(2, 9)})",
        "draft {}",
        "{}, as amended",
        f"{{}} {document.date[:4]}",
        "{}, final",
    )
    return rng.choice(marks).format(document.title)


TITLES: Mapping[str, Rename] = {
    "as they are": lambda document, _: document.title,
    "with version marks": add_marks,
    "without the service": lambda document, _: str(document.meta["type"]),
    "left out": lambda _, __: "",
}


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents with their works."""

    documents: Sequence[Document]
    work: Mapping[str, str]  # the work of each, by id
    unjudged: frozenset[frozenset[str]]  # pairs of ids that do not count

    @classmethod
    def read(cls, folder: Path) -> "Collection":
        """Read a collection from its folder."""
        with lzma.open(folder / "docs.jsonl.xz") as lines:
            documents = [read_record(orjson.loads(line), "docs.jsonl") for line in lines]
        tables = {
            name: list(csv.reader((folder / f"{name}.tsv").open(encoding="utf-8"), delimiter="\t"))[1:]
            for name in ("clusters", "unjudged")
        }
        return cls(
            documents, {row[0]: row[1] for row in tables["clusters"]}, frozenset(map(frozenset, tables["unjudged"]))
        )

    def half(self, number: int) -> list[Document]:
        """Return the documents of one half of the works."""
        return [each for each in self.documents if zlib.crc32(self.work[each.id].encode()) % 2 == number]


def licences(file: Path) -> Collection:
    """Read the licences that have numbers."""
    found = {
        name: (match[1], entry)
        for name, entry in orjson.loads(file.read_bytes()).items()
        if (match := re.fullmatch(r"(.+)-\d+(?:\.\d+)*[a-z]?", name))
    }
    documents = [Document(name, entry["licenseText"], title=entry["name"]) for name, (_, entry) in found.items()]
    return Collection(documents, {name: work for name, (work, _) in found.items()}, frozenset())


def codes(folder: Path) -> Collection:
    """Join the sections of each code of civil procedure."""
    sections: dict[str, list[str]] = {}
    with lzma.open(folder / "docs.jsonl.xz") as lines:
        for record in map(orjson.loads, lines):
            sections.setdefault(record["source"], []).append(record["text"])
    documents = [
        Document(name, "\n".join(texts), title=f"Code of civil procedure of {name[:2]}, {name[2:]}", date=name[2:])
        for name, texts in sections.items()
    ]
    return Collection(documents, {name: name[:2] for name in sections}, frozenset())


def rename(documents: Sequence[Document], title: Rename) -> list[Document]:
    """Give documents other titles."""
    rng = draw_lots(1)
    return [
        Document(each.id, each.text, title=title(each, rng), date=each.date, language=each.language)
        for each in documents
    ]


def score(collection: Collection, documents: Sequence[Document]) -> tuple[float, float]:
    """Return precision and recall of pairs of versions of one work."""
    found: Counter[bool] = Counter()
    works = Works.find(versioned_documents(documents))
    for rows in works.members():
        for a, b in combinations([works.documents[row].id for row in rows], 2):
            if frozenset((a, b)) not in collection.unjudged:
                found[collection.work[a] == collection.work[b]] += 1
    sizes = Counter(collection.work[each.id] for each in documents)
    return found[True] / found.total(), found[True] / sum(size * (size - 1) // 2 for size in sizes.values())


def lines(collection: Collection) -> Iterator[str]:
    """Yield the figures."""
    yield (__doc__ or "").split("\n\n", 2)[2]
    yield "| titles | chosen on: precision | recall | held out: precision | recall |\n|---|---|---|---|---|"
    for name, title in TITLES.items():
        halves = [score(collection, rename(collection.half(half), title)) for half in (0, 1)]
        yield f"| {name} | {' | '.join(f'{figure:.4f}' for half in halves for figure in half)} |"
    documents = rename(collection.documents, TITLES["as they are"])
    began = time.process_time()
    read = list(versioned_documents(documents))
    middle = time.process_time()
    count = sum(row.current for row in versions(Works.find(read)))
    words = sum(len(each.text.split()) for each in documents)
    yield (
        f"\nAll {len(documents):,} documents ({words / 1e6:.1f} million words) in {count:,} works take "
        f"{middle - began:.2f} s of the processor to read and {time.process_time() - middle:.2f} s to join and order."
    )


def statutes(collections: Mapping[str, Collection]) -> Iterator[str]:
    """Yield the figures of statutes."""
    yield "\n## Statutes\n\n| | documents | pairs of versions | titles | precision | recall |"
    yield "|---|---|---|---|---|---|"
    for name, collection in collections.items():
        sizes = Counter(collection.work.values()).values()
        counts = f"{len(collection.documents)} | {sum(size * (size - 1) // 2 for size in sizes)}"
        for titles in ("as they are", "left out"):
            figures = score(collection, rename(collection.documents, TITLES[titles]))
            yield f"| {name} | {counts} | {titles} | {' | '.join(f'{each:.4f}' for each in figures)} |"


def main() -> None:
    """Take the figures."""
    arguments = options(__doc__, licenses=Path).parse_args()
    collection = Collection.read(arguments.collections / NAME)
    others = {
        "licences": licences(arguments.licenses),
        "codes of civil procedure": codes(arguments.collections / "civil_code_sections"),
    }
    score(collection, collection.half(0)[:100])
    publish("works", "How well versions of one work are found", chain(lines(collection), statutes(others)))


if __name__ == "__main__":
    main()
