"""How often a warm ``explain`` goes from one package of sev into another: fewer switches are fewer places to look at.

Run it with ``python benchmarks/package_switches.py``; ``--list`` shows each switch.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev

ROOT = Path(sev.__file__).parent
N_ROWS = 100


def count_switches(call: Callable[[], object]) -> list[tuple[str, str]]:
    """Caller and called function of every call from one package of sev into another."""
    found: list[tuple[str, str]] = []

    def place(code: object) -> str | None:
        file = Path(code.co_filename)  # type: ignore[attr-defined]
        return file.relative_to(ROOT).parts[0] if file.is_relative_to(ROOT) else None

    def hook(frame: object, event: str, argument: object) -> None:
        if event != "call":
            return
        mine = place(frame.f_code)  # type: ignore[attr-defined]
        if mine is None:
            return
        caller = frame.f_back  # type: ignore[attr-defined]
        while caller is not None and place(caller.f_code) is None:
            caller = caller.f_back
        if caller is not None and place(caller.f_code) != mine:
            names = [f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}"
                     for code in (caller.f_code, frame.f_code)]  # type: ignore[attr-defined]  # fmt: skip
            found.append((names[0], names[1]))

    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def made() -> dict[str, tuple[sev.Explainer, pd.DataFrame]]:
    """A pipeline of a linear model and a boosted one, each with 100 rows to explain."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.integers(18, 80, 500), "income": rng.normal(size=500),
                         "debt": rng.normal(size=500), "home": rng.choice(["own", "rent", "other"], 500)})  # fmt: skip
    labels = (rows["income"] + rows["debt"] + rng.normal(scale=0.3, size=500) > 0).astype(int)
    encode = make_column_transformer((OneHotEncoder(), ["home"]), (StandardScaler(), ["age", "income", "debt"]))
    linear = make_pipeline(encode, LogisticRegression()).fit(rows, labels)
    trees = LGBMClassifier(n_estimators=20, verbose=-1).fit(rows.drop(columns="home"), labels)
    return {
        "linear pipeline": (sev.Explainer(linear, rows, labels), rows.iloc[:N_ROWS]),
        "LightGBM": (sev.Explainer(trees, rows.drop(columns="home"), labels), rows.drop(columns="home").iloc[:N_ROWS]),
    }


def main() -> None:
    """Print the number of switches of each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="show each switch")
    listed = parser.parse_args().list
    for name, (explainer, rows) in made().items():
        explainer.explain(rows)
        found = count_switches(lambda explainer=explainer, rows=rows: explainer.explain(rows))
        print(f"{name}: {len(found)} switches")
        for (caller, called), count in Counter(found).items() if listed else ():
            print(f"  {count:3d}  {caller} -> {called}")


if __name__ == "__main__":
    main()
