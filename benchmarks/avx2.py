"""Signing by the compiled loops with AVX2, without it, and by Python alone; written to docs/figures/avx2.md.

    python benchmarks/avx2.py [--collections FOLDER] [--rounds N]

`kernel.c` compiles its widest loops twice on x86_64 with the GNU C library, and the processor runs those for AVX2 where
it has it. Here it is compiled again with the same options and without that choice, which is what a processor without
AVX2 runs and what the wheel for `musllinux` has. Each way signs the same documents of 800 words of newswire in one
process and one thread, in turn and in alternating order, a first turn uncounted; processor time. The ratio is taken
to the way as installed in the same turn: the median of the turns, the lowest and the highest. Above 1, a way takes
longer. All ways give equal signatures, or the benchmark ends.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

from benchmark import in_turn, introduction, options, publish
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.kernel import loops
from ibidem_ingest.kernel.library import SOURCE, source_name
from ibidem_ingest.signatures.sign import sign
from measured import ROOT
from signing import documents

sys.path.insert(0, str(ROOT))
from hatch_build import OPTIONS

CLONES = '__attribute__((target_clones("avx2", "default")))'

Ways = Mapping[str, loops.Loops | None]


def compile_without_avx2(folder: Path) -> loops.Loops:
    """Compile `kernel.c` so that no function is chosen by the processor."""
    source, library = folder / "kernel.c", folder / "kernel.so"
    text = SOURCE.read_text(encoding="utf-8")
    if CLONES not in text:
        raise SystemExit(f"{SOURCE.name} has no {CLONES}: look how it chooses by the processor now")
    source.write_text(text.replace(CLONES, ""), encoding="utf-8")
    name = f'-DSOURCE="{source_name(SOURCE.read_bytes())}"'
    subprocess.run([os.environ.get("CC", "cc"), *OPTIONS, name, str(source), "-o", str(library)], check=True)
    return loops.Loops(library)


def measure(ways: Ways, several: Sequence[Document], tables: Tables, rounds: int) -> dict[str, list[float]]:
    """Sign in each way and turn, always with the same signatures."""
    signatures = sign(several, tables)

    def sign_by(loaded: loops.Loops | None) -> None:
        with patch.object(loops, "IN_USE", loaded):
            if sign(several, tables) != signatures:
                raise SystemExit("one of the ways gives other signatures")

    works = [partial(sign_by, each) for each in ways.values()]
    return dict(zip(ways, in_turn(works, rounds, time.process_time), strict=True))


def table(seconds: Mapping[str, Sequence[float]], count: int) -> Iterator[str]:
    """Yield the lines of the page; the first way is the one that others are compared with."""
    first = next(iter(seconds.values()))
    yield f"| {count} documents, all signatures | seconds | documents / s | ratio | spread |\n|---|---|---|---|---|"
    for name, times in seconds.items():
        ratios = [own / own_first for own, own_first in zip(times, first, strict=True)]
        middle = statistics.median(times)
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        yield f"| {name} | {middle:.3f} | {count / middle:,.0f} | {statistics.median(ratios):.2f} | {spread} |"


def main() -> None:
    """Measure, print and write the page."""
    arguments = options(__doc__, documents=500, rounds=11).parse_args()
    if "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        raise SystemExit("this processor has no AVX2: there is nothing to compare")
    several = documents(arguments.collections, arguments.documents)
    with tempfile.TemporaryDirectory() as folder:
        ways: Ways = {
            "loops with AVX2, as installed": loops.compiled(),
            "loops without AVX2": compile_without_avx2(Path(folder)),
            "Python alone, as the wheel `any`": None,
        }
        seconds = measure(ways, several, Tables(Path(folder, "tables")), arguments.rounds)
    head = introduction(__doc__, "`kernel.c` compiles")
    publish("avx2", "Signing without AVX2", table(seconds, len(several)), head)


if __name__ == "__main__":
    main()
