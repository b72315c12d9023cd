"""Peak memory of signing one document, for the worst shapes of text.

    python benchmarks/peak.py [--characters N] [--shapes NAME …] [--write]

A document of the longest allowed length, in the hardest shapes that we know: each is signed in a process of its own;
its peak memory is as the kernel counts it, less its memory before. Ordinary prose of the same length is listed too.
"""

import argparse
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmark import draw_lots, options, publish
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign

MAX_TEXT = 10_000_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"
RNG = draw_lots(11)


def main() -> None:
    """Sign each shape in a process of its own, and print its memory."""
    parser = options(__doc__, characters=MAX_TEXT, write=False)
    parser.add_argument("--shapes", nargs="*", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        print(peak(arguments.here, arguments.characters))
        return
    lines = measure(arguments.shapes, arguments.characters)
    publish("peak", "The memory that one document takes", lines, table(arguments.characters), keep=arguments.write)


def table(characters: int) -> list[str]:
    return [
        f"Megabytes that a process holds at most while it signs one document of {characters:,} characters, with the",
        "interpreter, the libraries and the table of word frequencies; then what of this the document takes, in all",
        "and for a million characters.",
        "",
    ]


def measure(shapes: list[str], characters: int) -> Iterator[str]:
    yield from ("| shape | most, MB | the document, MB | per million characters, MB |", "|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ibidem-peak-") as folder:
        path = Path(folder) / "text"
        for shape in shapes:
            path.write_text(SHAPES[shape](characters)[:characters], encoding="utf-8", newline="")
            command = [sys.executable, __file__, "--characters", str(characters), "--here", str(path)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            peak_mb, growth_mb = map(float, output.split())
            yield f"| {shape} | {peak_mb:,.0f} | {growth_mb:,.0f} | {growth_mb * 1e6 / characters:.0f} |"


def peak(path: Path, characters: int) -> str:
    with tempfile.TemporaryDirectory(prefix="ibidem-peak-") as folder:
        tables = Tables(Path(folder))
        sign([Document("a", "the court so held " * 100)], tables)
        start_mb = most_mb()
        text = path.read_bytes().decode()
        document = read_record({"id": "a", "text": text}, "here", characters)
        pack(document, sign([document], tables)[0])
        return f"{most_mb()} {most_mb() - start_mb}"


def most_mb() -> float:
    """Return the most megabytes that this process ever held; `ru_maxrss` would include its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def word_text(characters: int, size: int, separator: str = " ") -> str:
    words = characters // (size + len(separator)) + 1
    letters = RNG.choices(LETTERS, k=words * size)
    return separator.join("".join(letters[at : at + size]) for at in range(0, len(letters), size))


def prose(characters: int) -> str:
    """Make a text of few words that come often and many that come rarely."""
    vocabulary = ["".join(RNG.choices(LETTERS, k=RNG.randrange(2, 10))) for _ in range(50_000)]
    return " ".join(vocabulary[int(50_000 ** RNG.random()) - 1] for _ in range(characters // 5))


def character_text(first: int, last: int) -> Callable[[int], str]:
    return lambda characters: "".join(map(chr, RNG.choices(range(first, last), k=characters)))


def script_text(characters: int) -> str:
    """Make a text of characters of all scripts that stand for themselves alone."""
    all_characters = map(chr, [*range(32, 0xD800), *range(0xE000, 0x30000)])
    base_characters = [each for each in all_characters if unicodedata.is_normalized("NFKD", each)]
    return "".join(RNG.choices(base_characters, k=characters))


SHAPES: Mapping[str, Callable[[int], str]] = {
    "prose": prose,
    "one letter between blanks": lambda characters: "a " * (characters // 2),
    "one word, repeated": lambda characters: "duty " * (characters // 5),
    "one word of all characters": lambda characters: "a" * characters,
    "short words, all different": lambda characters: word_text(characters, 5),
    "words of ten letters, all different": lambda characters: word_text(characters, 10),
    "Han characters": character_text(0x4E00, 0x9FFF),
    "pages of four words": lambda characters: "\f".join(word_text(20, 4)[:19] for _ in range(characters // 20)),
    "pages of ten short words": lambda characters: "a b c d e f g h i j\f" * (characters // 20),
    "blank pages": lambda characters: "\f" * (characters - 5) + "a b c",
    "punctuation": lambda characters: "!?.," * (characters // 4),
    "combining marks": lambda characters: "a" + "\u0301" * (characters - 1),
    "random characters of all scripts": script_text,
}


if __name__ == "__main__":
    main()
