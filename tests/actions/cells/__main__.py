"""Random models and actions against every cell: ``PYTHONPATH=src:tests python -m actions.cells --minutes 10``."""

from __future__ import annotations

import argparse
import sys
import time

from actions.cells.compare import Totals
from actions.cells.runner import run_seed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m actions.cells", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="first of the seeds")
    parser.add_argument("--count", type=int, default=None, help="how many seeds (default: until the time is up)")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    options = parser.parse_args()
    totals, n_bad, seed = Totals(), 0, options.first
    end, shown = time.monotonic() + 60 * options.minutes, time.monotonic()
    while time.monotonic() < end and (options.count is None or seed < options.first + options.count):
        found = run_seed(seed, totals)
        n_bad += bool(found)
        for problem in found[:3]:
            sys.stdout.write(f"seed {seed}: {problem}\n")
            sys.stdout.flush()
        seed += 1
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            sys.stdout.write(f"seeds to {seed - 1}: {totals}; {n_bad} seeds with differences\n")
            sys.stdout.flush()
    sys.stdout.write(f"seeds {options.first} to {seed - 1}: {totals}; {n_bad} seeds with differences\n")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
