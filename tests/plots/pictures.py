"""Every picture, drawn from made-up results with hostile and long names."""

import numpy as np
import pandas as pd
import show_cases as cases

from sev import plots
from sev.core import Status

LONG = tuple(f"a very long feature name, number {number}, that nobody would read aloud" for number in range(13))
NAMES = (*cases.HOSTILE, *LONG)


def _rows(n_rows=60):
    rng = np.random.default_rng(0)
    rows = [
        (Status.OPTIMAL, [tuple(sorted(rng.choice(len(NAMES), rng.integers(1, 5), replace=False)))])
        for _ in range(n_rows)
    ]
    return [*rows, (Status.UNEXPLAINABLE, []), (Status.UNDECIDED, []), (Status.NOT_TARGET, [])]


def hostile():
    return cases.made(_rows(), NAMES, restricted=NAMES[:1], target="$\\frac{$")


#: The more is changed, the lower the score.
_ASKED = cases.StandIn(lambda rows: 0.9 - 0.1 * (rows.astype(float) < 0).sum(axis=1).to_numpy())


def _methods_table():
    return pd.DataFrame(
        {
            "method": ["SEV", "SEV", "$\\frac{$", "$\\frac{$"],
            "query": [0, 1, 0, 1],
            "flips": [1, 2, 11, np.nan],
            "seconds": [0.01, 0.02, 1.0, 3.0],
        }
    )


def _plane():
    rows = plots.plane({"$\\frac{$": (0, 9), "two\nlines": (0, 9)}, n=3)
    many = cases.made([(Status.NOT_TARGET, [])] * 4 + [(Status.OPTIMAL, [(0,)])] * 5, tuple(rows.columns))
    many._queries = rows
    return many


def _with_limits():
    many = hostile()
    many.limits = dict.fromkeys(NAMES, (-3.0, 3.0))
    return many


def _menu():
    names = [NAMES[:1], NAMES[1:3], LONG[:2]]
    changes = [dict.fromkeys(some, -1.0 if number else "$\\frac{$") for number, some in enumerate(names)]
    return pd.DataFrame(
        {
            "features": names,
            "size": [1, 2, 2],
            "outcome": ["works", "works", "works"],
            "old": [dict.fromkeys(some, "two\nlines") for some in names],
            "changes": changes,
            "enough": [{}, {}, {LONG[0]: (-2.0, 0.5)}],
            "cost": [0.5, 2.0, 0.0],
            "searched": ["all"] * 3,
        }
    )


PICTURES = {
    "ranges": lambda ax: plots.ranges(_with_limits()[1], ax=ax),
    "ranges of categories": lambda ax: plots.ranges(hostile()[1], ax=ax),
    "menu": lambda ax: plots.menu(_menu(), ax=ax),
    "changes": lambda ax: plots.changes(hostile()[0], ax=ax),
    "changes without a set": lambda ax: plots.changes(hostile()[60], ax=ax),
    "hypercube": lambda ax: plots.hypercube(hostile()[1], ax=ax, features=NAMES[:4], explainer=_ASKED),
    "score_path": lambda ax: plots.score_path(hostile()[1], ax=ax, explainer=_ASKED),
    "sizes": lambda ax: plots.sizes({"$\\frac{$": hostile(), "_two\nlines": hostile()}, ax=ax),
    "feature_shares": lambda ax: plots.feature_shares({"$\\frac{$": hostile(), "_b": hostile()}, ax=ax),
    "together": lambda ax: plots.together(hostile(), ax=ax, max_features=20),
    "flow": lambda ax: plots.flow(hostile(), hostile(), ax=ax, labels=("$\\frac{$", "two\nlines")),
    "tradeoff": lambda ax: plots.tradeoff(
        pd.DataFrame({"accuracy": [0.7, 0.8], "mean_size": [1.0, np.nan]}, index=["$\\frac{$", "_b"]), ax=ax
    ),
    "regions": lambda ax: plots.regions(_plane(), ax=ax),
    "methods": lambda ax: plots.methods(_methods_table(), ax=ax),
    "flips": lambda ax: plots.flips(_methods_table(), ax=ax),
}
