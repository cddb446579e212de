"""How long ``import sev`` takes, beside importing scikit-learn and pandas alone, in fresh processes."""

import json
import subprocess
import sys

REPEATS = 7
BASE = (
    "import time; t = time.perf_counter(); import pandas, sklearn.base; import {more}; print(time.perf_counter() - t)"
)


def fastest(more: str) -> float:
    runs = [
        subprocess.run([sys.executable, "-c", BASE.format(more=more)], capture_output=True, text=True, check=True)
        for _ in range(REPEATS)
    ]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    alone, ours = fastest("sklearn"), fastest("sev")
    print(f"pandas and scikit-learn {alone:.2f} s, with sev {ours:.2f} s: {ours / alone:.3f} times")
    print(json.dumps({"alone_s": alone, "with_sev_s": ours, "ratio": ours / alone}))


if __name__ == "__main__":
    main()
