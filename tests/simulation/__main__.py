"""Runs schedules of many seeds: `python -m simulation --seeds 1000000`, in the folder `tests`."""

import argparse
import sys
import time
from functools import partial
from multiprocessing import get_context

from simulation.schedules import FOCUSES, run

CHUNK = 50

PART = 10  # where no focus is named, each is run with that part of the schedules


def main() -> int:
    """Run them on all processors, and print what broke with the command that repeats it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first")
    parser.add_argument("--focus", choices=["", *FOCUSES], default="", help="what they hold; else some of each")
    options = parser.parse_args()
    began, count, done = time.monotonic(), 0, 0
    with get_context("spawn").Pool() as pool:
        for focus in [options.focus] if options.focus else FOCUSES:
            last = options.first + (options.seeds if focus in {options.focus, "ANY"} else options.seeds // PART)
            chunks = [range(at, min(at + CHUNK, last)) for at in range(options.first, last, CHUNK)]
            done += last - options.first
            for broken in pool.imap_unordered(partial(run, focus=focus), chunks):
                for each in broken:
                    count += 1
                    sys.stdout.write(f"{each}\n\n")
    sys.stdout.write(f"{done:,} schedules in {time.monotonic() - began:,.0f} s: {count:,} broke a promise\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
