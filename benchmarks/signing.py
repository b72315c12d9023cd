"""Speed of signing compared with the min-hash of other libraries, and its memory.

    python benchmarks/signing.py [--collections FOLDER] [--documents N] [--rounds N] [--memory N]

Speed: newswire joined and cut into documents of 800 words; min-hash of 100 hashes over shingles of five words. All
libraries get the same list of strings, in one process, one thread and in turn; seconds of processor time, the median
of the rounds. gaoya cuts, hashes and signs in Rust (its only interface also puts each document into an index).
datasketch and rensa take lists of shingles: these are made by one regular expression and joins, and datasketch hashes
them with xxh32, which is faster than its default.

Memory: a process of its own signs a stream of such documents, and prints the most that it held.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise, repeat
from pathlib import Path

import datasketch
import gaoya
import rensa
import xxhash

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures import minhash
from ibidem_ingest.signatures.sign import batches, sign, sign_stream
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import Shingles

NEWSWIRE = Path("reuters21578/docs.jsonl.xz")
WORDS = 800
HASHES = 100
WORD = re.compile(r"\w+")

Contender = Callable[[], object]


def documents(collections: Path, count: int) -> list[Document]:
    """Join newswire and cut it into documents of 800 words."""
    stories = (story.text for story in read([collections / NEWSWIRE]) if not isinstance(story, Refusal))
    text = "\n".join(islice(stories, count * WORDS // 80))
    starts = [match.start() for match in islice(WORD.finditer(text), 0, count * WORDS + 1, WORDS)]
    return [Document(f"d{number}", text[a:b]) for number, (a, b) in enumerate(pairwise(starts))]


def our_minhash(several: Sequence[Document]) -> None:
    """Make min-hash sketches alone."""
    for batch in batches(several):
        tokens = TokenBatch.tokenize([document.text for document in batch])
        minhash.sign_batch(Shingles.hash(tokens.hashes, tokens.offsets))


def gaoya_minhash(texts: Sequence[str]) -> None:
    """Sign with gaoya: words, lower case and five-word shingles in Rust, 100 hashes of 64 bits, as ours are."""
    index = gaoya.minhash.MinHashStringIndex(64, 0.5, 20, 5, None, "word", True, (5, 5), "vec")  # noqa: FBT003
    for number, text in enumerate(texts):
        index.insert_document(number, text)


def cut_shingles(texts: Sequence[str]) -> Iterator[list[str]]:
    """Cut texts into shingles of five words."""
    for text in texts:
        words = WORD.findall(text.lower())
        yield list(map(" ".join, zip(*(words[start:] for start in range(5)), strict=False)))


def datasketch_minhash(texts: Sequence[str]) -> None:
    """Sign with datasketch, in bulk."""
    octets = ([shingle.encode() for shingle in shingles] for shingles in cut_shingles(texts))
    datasketch.MinHash.bulk(octets, num_perm=HASHES, hashfunc=xxhash.xxh32_intdigest)


def rensa_minhash(texts: Sequence[str]) -> None:
    """Sign with rensa."""
    for shingles in cut_shingles(texts):
        sketch = rensa.RMinHash(num_perm=HASHES, seed=42)
        sketch.update(shingles)
        sketch.digest()


def measure_in_turn(contenders: dict[str, Contender], rounds: int) -> dict[str, float]:
    """Run each library once, then all in turn; return the median seconds of processor time of each."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, contender in contenders.items():
            begin = time.process_time()
            contender()
            if turn:
                seconds[name].append(time.process_time() - begin)
    return {name: statistics.median(times) for name, times in seconds.items()}


def speed(several: Sequence[Document], tables: Tables, rounds: int) -> None:
    """Print documents a second, and ratios to the peers."""
    texts = [document.text for document in several]
    peers = {"gaoya": gaoya_minhash, "rensa": rensa_minhash, "datasketch": datasketch_minhash}
    own_ways = {
        "ibidem, min-hash": lambda: our_minhash(several),
        "ibidem, all signatures": lambda: sign(several, tables),
    }
    bound = {f"{name}, min-hash": lambda peer=peer: peer(texts) for name, peer in peers.items()}
    medians = measure_in_turn(own_ways | bound, rounds)
    characters = sum(map(len, texts)) / len(texts)
    print(f"{len(several)} documents of {WORDS} words ({characters:.0f} characters), median of {rounds} rounds in turn")
    for name, seconds in medians.items():
        times = "  ".join(
            f"{medians[peer] / seconds:5.2f} x {peer.split(',')[0]}" for peer in bound if name in own_ways
        )
        print(
            f"  {name:24s} {len(several) / seconds:8,.0f} documents/s {seconds / len(several) * 1e6:7.1f} us  {times}"
        )


def memory(collections: Path, count: int, tables: Path) -> None:
    """Sign so many documents in this process, and print the most memory that it held."""
    stream = islice(chain.from_iterable(repeat(documents(collections, 200))), count)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = sum(1 for _ in sign_stream(stream, Tables(tables)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{count:,} documents signed in a process that held at most {peak / 1024:.0f} MB ({start / 1024:.0f} before)")


def run_part(part: str, arguments: argparse.Namespace, folder: str) -> None:
    """Run a part in a process of its own, before this one grows: Linux includes the most that the parent held."""
    command = [sys.executable, __file__, "--collections", str(arguments.collections), "--memory", str(arguments.memory)]
    subprocess.run([*command, part, folder], check=True)


def main() -> None:
    """Read the options and run both parts."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--collections", type=Path, default=Path("../shared/data"))
    options.add_argument("--documents", type=int, default=2_000)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--memory", type=int, default=100_000, metavar="N")
    for part in ("--build", "--measure"):
        options.add_argument(part, type=Path, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"  # gaoya's threads
    if arguments.build:
        Tables(arguments.build).of("en")
    elif arguments.measure:
        memory(arguments.collections, arguments.memory, arguments.measure)
    else:
        with tempfile.TemporaryDirectory() as folder:
            run_part("--build", arguments, folder)
            run_part("--measure", arguments, folder)
            speed(documents(arguments.collections, arguments.documents), Tables(folder), arguments.rounds)


if __name__ == "__main__":
    main()
