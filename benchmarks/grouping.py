"""Speed of grouping a window of hits, decoding included, and of grouping a whole index.

    python benchmarks/grouping.py [--collections FOLDER] [--rounds N] [--whole N]

Windows: newswire, drawn by lot and in the order of the file, where stories of a day follow each other; 400 texts of 800
words with 100 versions of them, some words changed or a passage dropped; and the worst cases, 10,000 equal and 10,000
near copies of one story. Milliseconds of processor time on one core, the median of the rounds. A whole index
(`--whole`): pages of Philosophical Transactions and newswire, repeated under new ids as often as need be, in a process
of its own.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from ibidem.index.groups import LongTextIndex, read_slices, sort_documents
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign_stream

NEWSWIRE = Path("reuters21578/docs.jsonl.xz")
PAGES = Path("philtrans_pages_scale/docs.jsonl.xz")
WORDS = 800


@dataclass(frozen=True, slots=True)
class WindowCost:
    """Cost of grouping a window.

    Args:
        decode: Milliseconds of decoding the packed values, the median.
        total: Milliseconds of decoding and grouping.
        groups: How many groups there are.
    """

    decode: float
    total: float
    groups: int


def stories(path: Path) -> Iterator[Document]:
    """Read the documents of a collection."""
    return (item for item in read([path]) if isinstance(item, Document))


def values(documents: Iterator[Document] | Sequence[Document], tables: Tables) -> list[bytes]:
    """Sign documents and pack them."""
    return [pack(document, signatures) for document, signatures in sign_stream(documents, tables)]


def version(text: str, rng: random.Random) -> str:
    """Change some words of a text, and drop a passage or not."""
    words = text.split(" ")
    for _ in range(rng.randrange(12)):
        words[rng.randrange(len(words))] = rng.choice(words)
    length = rng.choice([0, 0, 0, 20, 60])
    at = rng.randrange(len(words) - length)
    return " ".join(words[:at] + words[at + length :])


def mix_versions(newswire: Sequence[Document], rng: random.Random) -> list[Document]:
    """Join stories to texts of 800 words, and mix a hundred versions in."""
    words = " ".join(story.text for story in islice(newswire, 8_000)).split()
    texts = [" ".join(words[at * WORDS : (at + 1) * WORDS]) for at in range(400)]
    texts += [version(rng.choice(texts), rng) for _ in range(100)]
    rng.shuffle(texts)
    return [Document(f"v{at}", text) for at, text in enumerate(texts)]


def near_copies(story: Document, count: int) -> list[Document]:
    """Add a word of its own to each copy."""
    return [replace(story, id=f"n{at}", text=f"{story.text} copy{at}") for at in range(count)]


def windows(newswire: Sequence[Document], tables: Tables) -> dict[str, list[bytes]]:
    """Make the windows to measure."""
    rng = random.Random(5)  # noqa: S311 - windows keep no secret
    signatures = values(newswire, tables)
    longest = max(newswire, key=lambda story: len(story.text))
    return {
        "500 newswire stories by lot": rng.sample(signatures, 500),
        "500 newswire stories in order": signatures[5_000:5_500],
        "500 texts of 800 words, 100 versions": values(mix_versions(newswire, rng), tables),
        "10,000 newswire stories by lot": rng.sample(signatures, 10_000),
        "10,000 newswire stories in order": signatures[:10_000],
        "10,000 equal copies of one": [signatures[newswire.index(longest)]] * 10_000,
        "10,000 near copies of one": values(near_copies(newswire[0], 10_000), tables),
    }


def measure_window(window: Sequence[bytes], policy: Policy, rounds: int) -> WindowCost:
    """Time a window."""
    decode, total = [], []
    for _ in range(rounds):
        start = time.process_time()
        columns = PackedColumns.decode(window)
        decode.append(time.process_time() - start)
        grouping = group(columns, policy)
        total.append(time.process_time() - start)
    return WindowCost(statistics.median(decode) * 1e3, statistics.median(total) * 1e3, len(grouping.leads))


def slices(path: Path) -> Iterator[list[Hit]]:
    """Read a file of packed values as from an index, a thousand at a time."""
    with path.open("rb") as file:
        chunks = iter(lambda: file.read(2), b"")
        hits = (Hit("index", f"{at:07}", 0.0, file.read(int.from_bytes(size))) for at, size in enumerate(chunks))
        while batch := list(islice(hits, 1_000)):
            yield batch


def group_file(path: Path) -> None:
    """Group the packed values of a file as `ibidem groups` does, and print its cost."""
    engine = open_engine(f"sqlite:////{path.parent}/empty.sqlite", "empty")  # for long texts: `near` asks for none
    start = time.process_time()
    names, columns = sort_documents(*read_slices(slices(path), lambda _: None, LongTextIndex(engine, Policy())))
    read_seconds = time.process_time() - start
    grouping = group(columns, Policy())
    seconds = time.process_time() - start
    peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    print(
        f"whole index of {len(names):,} documents: {seconds:.1f} s, of which reading {read_seconds:.1f} s; "
        f"{int(peak) / 1024:.0f} MB in all; {len(grouping.leads):,} groups"
    )


def measure_index(collections: Path, count: int, tables: Tables, folder: Path) -> None:
    """Write the packed values of as many documents as asked for, and group them in a process of its own."""
    path = folder / "packed"
    signatures = values(stories(collections / PAGES), tables) + values(stories(collections / NEWSWIRE), tables)
    with path.open("wb") as file:
        for each in islice(cycle(signatures), count):
            file.write(len(each).to_bytes(2) + each)
    del signatures
    subprocess.run([sys.executable, __file__, "--file", str(path)], check=True)


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--collections", type=Path, default=Path("../shared/data"))
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--whole", type=int, default=0, help="documents of a whole index to group too")
    options.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.file is not None:
        group_file(arguments.file)
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(folder)
        newswire = list(stories(arguments.collections / NEWSWIRE))
        print("| window | decoding, ms | with grouping, ms | groups | the rule of 2003, ms |")
        print("|---|---|---|---|---|")
        for name, window in windows(newswire, tables).items():
            default, paper = (
                measure_window(window, each, arguments.rounds) for each in (Policy(), PRESETS["conrad2003"].policy)
            )
            print(f"| {name} | {default.decode:.1f} | {default.total:.1f} | {default.groups:,} | {paper.total:.1f} |")
        if arguments.whole:
            measure_index(arguments.collections, arguments.whole, tables, Path(folder))


if __name__ == "__main__":
    main()
