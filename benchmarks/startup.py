"""How long ``import sev`` and ``sev.Explainer`` take beside importing scikit-learn and pandas, in fresh processes.

``import sev`` itself loads next to nothing: what a name needs is loaded when the name is first used. So the second
figure, with the explainer, is the one that a program which explains something waits for.

All modules are compiled to bytecode first, in a folder of this run: an installation holds it, a checkout in which
Python may not write does not, and compiling the package anew takes several times as long as loading it. Times are
processor time, the best of a few.
"""

import json
import os
import subprocess
import sys
import tempfile

REPEATS = 7
BASE = (
    "import time; t = time.process_time(); import pandas, sklearn.base; import {more}; print(time.process_time() - t)"
)


def seconds(more: str, bytecode: str) -> float:
    """Seconds of the imports in a new process that keeps its bytecode in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(
        [sys.executable, "-c", BASE.format(more=more)],
        env={**environment, "PYTHONPYCACHEPREFIX": bytecode},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as bytecode:
        # turn about, so that neither gains from files that the other has just read; the first turn compiles
        modules = ("sklearn", "sev", "sev.explainers")
        runs = [[seconds(module, bytecode) for module in modules] for _ in range(REPEATS + 1)]
    alone, ours, whole = (min(times) for times in zip(*runs[1:], strict=True))
    print(f"pandas and scikit-learn {alone:.2f} s, with sev {ours:.2f} s: {ours / alone:.3f} times")
    print(f"and with sev.Explainer {whole:.2f} s: {whole / alone:.3f} times")
    found = {"alone_s": alone, "with_sev_s": ours, "ratio": ours / alone}
    print(json.dumps({**found, "with_explainer_s": whole, "explainer_ratio": whole / alone}))


if __name__ == "__main__":
    main()
