"""Feed every parser very many malformed inputs, and count those that ended it in an error that is not ours.

    python benchmarks/fuzz.py [--inputs N] [--seed N] [--only NAME …] [--write]

The targets are those of `tests/fuzz`, which CI feeds some hundred inputs each. Here libFuzzer (atheris) changes their
examples with an eye on which lines of ours an input reaches. An input that takes over 30 seconds or 2 GB of memory
counts as a crash. Crashing inputs are kept in `tests/fuzz/cases/TARGET/`, where the tests feed them again. `--write`
puts the figures on `docs/figures/fuzz.md`; figures of targets that were left out stay.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import atheris

import measured

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT / "tests")  # in the place of this folder, which has files of the same names

OURS = ["fuzz", "ibidem", "ibidem_engines", "ibidem_ingest", "ibidem_workers"]
# Modules with a single path, which coverage would only slow down.
ARITHMETIC = [f"ibidem_ingest.{name}" for name in ("text.word_hash", "signatures.minhash", "signatures.text_profile")]

SECONDS, MEGABYTES = 30, 2_048  # time and memory that one input may take

PART = 20_000  # inputs of a process: with coverage, its memory grows by up to some ten thousand bytes with each

MAX_INPUT = 8_192  # bytes of an input; examples may be longer

PAGE = ROOT / "docs" / "figures" / "fuzz.md"
ROW = re.compile(r"^\| `(\S+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FuzzResult:
    """Result of one target."""

    name: str  # the target's
    inputs: int  # how many it was fed
    crashes: int  # how many ended it in an error that is not ours, or took too much
    seconds: int  # how long that took
    peak: int  # most memory of a process, in MB
    commit: str  # the commit that was fuzzed


def main() -> None:
    """Feed all targets, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        feed(arguments.here, arguments.inputs, arguments.seed)
    from fuzz.table import TARGETS  # noqa: PLC0415 - behind the other process's, which has to observe it

    results = []
    for name in arguments.only or TARGETS:
        results.append(feed_part(name, arguments.inputs, arguments.seed))
        print(json.dumps(asdict(results[-1])), flush=True)
    if arguments.write:
        write(results, list(TARGETS))


def feed_part(name: str, inputs: int, seed: int) -> FuzzResult:
    """Feed one target, each part of the inputs from a seed of its own."""
    sizes = [min(PART, inputs - at) for at in range(0, inputs, PART)]
    parts = [part(name, size, seed + number) for number, size in enumerate(sizes)]
    sums = [sum(column) for column in zip(*(each[:3] for each in parts), strict=True)]
    return FuzzResult(name, *sums, max(each[3] for each in parts), measured.commit())


def part(name: str, inputs: int, seed: int) -> tuple[int, int, int, int]:
    """Feed some inputs in a process of their own, and read the figures that it prints at its end."""
    command = [sys.executable, __file__, "--here", name, "--inputs", str(inputs), "--seed", str(seed)]
    with tempfile.TemporaryDirectory(prefix="ibidem-fuzz-") as folder:  # it ends without removing its own
        environment = os.environ | {"TMPDIR": folder}
        process = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False
        )
    output = process.stdout.decode(errors="replace")
    count = len(set(re.findall(r"^kept (\S+)", output, re.MULTILINE)))
    if "stat::number_of_executed_units" not in output or re.search(r"SUMMARY: libFuzzer", output):
        sys.stderr.write(output[-6_000:])
        count += 1
    return _stat(output, "number_of_executed_units"), count, _took(output), _stat(output, "peak_rss_mb")


def feed(name: str, inputs: int, seed: int) -> None:
    """Feed one target in this process; ends it."""
    with atheris.instrument_imports(include=OURS, exclude=ARITHMETIC):
        from fuzz.table import CASES, TARGETS, cases  # noqa: PLC0415 - imports here are covered
    target = TARGETS[name]
    names: set[str] = set()

    def run_input(data: bytes) -> None:
        try:
            target.feed(data)
        except Exception:  # noqa: BLE001 - any unexpected error is a finding
            place = "".join(traceback.format_exc().splitlines(keepends=True)[-3:])
            where = repr([(frame.filename, frame.lineno) for frame in traceback.extract_tb(sys.exc_info()[2])][-1])
            if where not in names:
                names.add(where)
                path = CASES / name / hashlib.sha256(data).hexdigest()[:16]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                print(f"kept {path.name}\n{place}", flush=True)

    with tempfile.TemporaryDirectory(prefix="ibidem-corpus-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, data in enumerate((*target.examples, *cases(name))):
            (corpus / str(number)).write_bytes(data)
        words = Path(folder) / "words"
        words.write_text("".join(f'"{escape(word)}"\n' for word in target.words if word), encoding="ascii")
        dictionary = [f"-dict={words}"] if words.stat().st_size else []
        longest = max(MAX_INPUT, *map(len, target.examples))
        limits = [
            f"-timeout={SECONDS}",
            f"-rss_limit_mb={MEGABYTES}",
            f"-max_len={longest}",
            f"-artifact_prefix={folder}/",
        ]
        options = ["-print_final_stats=1", "-verbosity=1", "-len_control=0"]
        atheris.Setup(
            [__file__, f"-runs={inputs}", f"-seed={seed}", *limits, *options, *dictionary, str(corpus)], run_input
        )
        atheris.Fuzz()


def escape(word: bytes) -> str:
    """Write a word as libFuzzer's dictionaries have it."""
    return "".join(f"\\x{byte:02X}" for byte in word)


def _stat(output: str, name: str) -> int:
    match = re.search(rf"^stat::{name}:\s+(\d+)", output, re.MULTILINE)
    return int(match[1]) if match else 0


def _took(output: str) -> int:
    match = re.search(r"^Done \d+ runs? in (\d+) second", output, re.MULTILINE)
    return int(match[1]) if match else 0


def write(results: Sequence[FuzzResult], order: Sequence[str]) -> None:
    """Put the figures on their page."""
    rows_by_name = {
        name: FuzzResult(name, *map(read_number, figures), commit)
        for name, *figures, commit in ROW.findall(told_before())
    }
    rows_by_name |= {each.name: each for each in results}
    rows = [rows_by_name[name] for name in order if name in rows_by_name]
    measured.write(
        "fuzz",
        "Fuzzing",
        [
            "Each parser is fed inputs that libFuzzer makes of real ones, with an eye on the lines of ours that they",
            f"reach. A crash is an error that is not the project's own, an input that takes over {SECONDS} seconds, or",
            f"{MEGABYTES:,} MB of memory.",
            "",
            "| parser | inputs | crashes | seconds | most memory, MB | commit |",
            "|---|---|---|---|---|---|",
            *(f"| `{e.name}` | {e.inputs:,} | {e.crashes:,} | {e.seconds:,} | {e.peak:,} | {e.commit} |" for e in rows),
            "",
            f"Together: {sum(each.inputs for each in rows):,} inputs, {sum(each.crashes for each in rows):,} crashes.",
        ],
    )


def told_before() -> str:
    """Return the page as it is."""
    return PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""


def read_number(text: str) -> int:
    """Read a whole number with commas."""
    return int(text.replace(",", ""))


if __name__ == "__main__":
    main()
