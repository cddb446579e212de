"""How long ``import sev`` takes, beside importing scikit-learn and pandas alone, in fresh processes."""

import json
import subprocess
import sys

REPEATS = 7
BASE = (
    "import time; t = time.perf_counter(); import pandas, sklearn.base; import {more}; print(time.perf_counter() - t)"
)


def seconds(more: str) -> float:
    run = subprocess.run([sys.executable, "-c", BASE.format(more=more)], capture_output=True, text=True, check=True)
    return float(run.stdout)


def main() -> None:
    # turn about, so that neither gains from files that the other has just read
    runs = [(seconds("sklearn"), seconds("sev")) for _ in range(REPEATS)]
    alone, ours = (min(times) for times in zip(*runs[1:], strict=True))
    print(f"pandas and scikit-learn {alone:.2f} s, with sev {ours:.2f} s: {ours / alone:.3f} times")
    print(json.dumps({"alone_s": alone, "with_sev_s": ours, "ratio": ours / alone}))


if __name__ == "__main__":
    main()
