"""Run the fuzzer: ``PYTHONPATH=src:tests python -m contracts.fuzz --minutes 60``, or one seed again with ``--seed``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from contracts.fuzz.recipes import RECIPES
from contracts.fuzz.runner import Report, run_seed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m contracts.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this seed only, and show all that it finds")
    parser.add_argument("--first", type=int, default=None, help="first of the seeds (default: from the clock)")
    parser.add_argument("--count", type=int, default=None, help="how many seeds (default: until the time is up)")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--recipe", choices=list(RECIPES), help="this generator only")
    options = parser.parse_args()
    report = Report()
    if options.seed is not None:
        run_seed(options.seed, report, options.recipe)
    else:
        first = int(time.time()) * 1000 % 10**10 if options.first is None else options.first
        _run_many(first, options, report)
    for failure in report.failures if options.seed is not None else report.first_failures():
        _say(str(failure))
        _say(f"    again: {_command(failure.seed, options.recipe)}")
    _say(str(report))
    return 1 if report.failures else 0


def _run_many(first: int, options: argparse.Namespace, report: Report) -> None:
    _say(f"seeds from {first}")
    end = time.monotonic() + options.minutes * 60
    shown = time.monotonic()
    seed = first
    while (options.count is None or seed < first + options.count) and time.monotonic() < end:
        found = len(report.failures)
        run_seed(seed, report, options.recipe)
        for failure in report.failures[found : found + 1]:
            _say(f"FOUND {failure}")
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            _say(f"{seed - first + 1} seeds: {report}")
        seed += 1


def _command(seed: int, recipe: str | None) -> str:
    which = "" if recipe is None else f" --recipe {recipe}"
    return f"PYTHONPATH=src:{Path(__file__).parents[2].name} python -m contracts.fuzz --seed {seed}{which}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
