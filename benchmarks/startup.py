"""How long ``import sev`` and ``sev.Explainer`` take beside importing scikit-learn and pandas, in fresh processes.

``import sev`` itself loads next to nothing: what a name needs is loaded when the name is first used. So the second
figure, with the explainer, is the one that a program which explains something waits for.
"""

import json
import subprocess
import sys

REPEATS = 7
BASE = (
    "import time; t = time.perf_counter(); import pandas, sklearn.base; import {more}; print(time.perf_counter() - t)"
)


def seconds(more: str) -> float:
    code = BASE.format(more=more)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(run.stdout)


def main() -> None:
    # turn about, so that neither gains from files that the other has just read
    runs = [(seconds("sklearn"), seconds("sev"), seconds("sev.explainers")) for _ in range(REPEATS)]
    alone, ours, whole = (min(times) for times in zip(*runs[1:], strict=True))
    print(f"pandas and scikit-learn {alone:.2f} s, with sev {ours:.2f} s: {ours / alone:.3f} times")
    print(f"and with sev.Explainer {whole:.2f} s: {whole / alone:.3f} times")
    found = {"alone_s": alone, "with_sev_s": ours, "ratio": ours / alone}
    print(json.dumps({**found, "with_explainer_s": whole, "explainer_ratio": whole / alone}))


if __name__ == "__main__":
    main()
