"""Runs schedules of many seeds: `python -m simulation --seeds 1000000`, in the folder `tests`."""

import argparse
import os
import sys
import time
from multiprocessing import get_context

from simulation.schedules import run

CHUNK = 50


def main() -> int:
    """Run them on all processors, and print what broke with the command that repeats it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first")
    options = parser.parse_args()
    last = options.first + options.seeds
    chunks = [range(at, min(at + CHUNK, last)) for at in range(options.first, last, CHUNK)]
    began, count = time.monotonic(), 0
    with get_context("spawn").Pool(min(len(chunks), os.cpu_count() or 1)) as pool:
        for broken in pool.imap_unordered(run, chunks):
            for each in broken:
                count += 1
                sys.stdout.write(f"{each}\n\n")
    sys.stdout.write(f"{options.seeds:,} schedules in {time.monotonic() - began:,.0f} s: {count:,} broke a promise\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
