"""What holds for every picture: hostile names, the given Axes, no overlap, nothing shown, grey readable."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import show_cases as cases

from sev import plots
from sev.core import Status
from sev.exceptions import MissingDependencyError

LONG = tuple(f"a very long feature name, number {number}, that nobody would read aloud" for number in range(13))
NAMES = (*cases.HOSTILE, *LONG)


def _rows(n_rows=60):
    rng = np.random.default_rng(0)
    rows = [
        (Status.OPTIMAL, [tuple(sorted(rng.choice(len(NAMES), rng.integers(1, 5), replace=False)))])
        for _ in range(n_rows)
    ]
    return [*rows, (Status.UNEXPLAINABLE, []), (Status.UNDECIDED, []), (Status.NOT_TARGET, [])]


def _hostile():
    return cases.made(_rows(), NAMES, restricted=NAMES[:1], target="$\\frac{$")


class _Asked:
    """Stands for the explainer of made-up results: the more is changed, the lower the score."""

    class source:
        @staticmethod
        def score_rows(rows, target):
            return 0.9 - 0.1 * (rows.astype(float) < 0).sum(axis=1).to_numpy()


class _NoMatplotlib:
    """An import system without matplotlib."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name=name)


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


PICTURES = {
    "changes": lambda ax: plots.changes(_hostile()[0], ax=ax),
    "changes without a set": lambda ax: plots.changes(_hostile()[60], ax=ax),
    "hypercube": lambda ax: plots.hypercube(_hostile()[1], ax=ax, features=NAMES[:4], explainer=_Asked),
    "score_path": lambda ax: plots.score_path(_hostile()[1], ax=ax, explainer=_Asked),
    "sizes": lambda ax: plots.sizes({"$\\frac{$": _hostile(), "_two\nlines": _hostile()}, ax=ax),
    "feature_shares": lambda ax: plots.feature_shares({"$\\frac{$": _hostile(), "_b": _hostile()}, ax=ax),
    "together": lambda ax: plots.together(_hostile(), ax=ax, max_features=20),
    "flow": lambda ax: plots.flow(_hostile(), _hostile(), ax=ax, labels=("$\\frac{$", "two\nlines")),
    "tradeoff": lambda ax: plots.tradeoff(
        pd.DataFrame({"accuracy": [0.7, 0.8], "mean_size": [1.0, np.nan]}, index=["$\\frac{$", "_b"]), ax=ax
    ),
    "regions": lambda ax: plots.regions(_plane(), ax=ax),
    "methods": lambda ax: plots.methods(_methods_table(), ax=ax),
    "flips": lambda ax: plots.flips(_methods_table(), ax=ax),
}


def test_every_public_picture_is_in_the_table():
    assert {name.partition(" ")[0] for name in PICTURES} == set(plots.__all__) - {"plane"}


@pytest.mark.parametrize("name", PICTURES)
def test_hostile_names_are_drawn(name):
    ax = PICTURES[name](None)
    ax.figure.canvas.draw()  # a name read as mathematics raises here


@pytest.mark.parametrize("name", PICTURES)
def test_the_given_axes_are_used_and_nothing_is_shown(name, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("shown"))
    figure, mine = plt.subplots()
    assert PICTURES[name](mine) is mine
    assert plt.get_fignums() == [figure.number]
    assert mine.get_title(loc="left")


@pytest.mark.parametrize("name", PICTURES)
def test_a_missing_matplotlib_is_named_with_its_extra(name, monkeypatch):
    for module in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [_NoMatplotlib, *sys.meta_path])
    with pytest.raises(MissingDependencyError, match=r"sev\[plots\]"):
        PICTURES[name](None)


@pytest.mark.parametrize("name", ["feature_shares", "together", "sizes", "flow", "changes", "score_path"])
def test_texts_do_not_overlap(name):
    ax = PICTURES[name](None)
    ax.figure.canvas.draw()
    across = ax.get_xticklabels() if name == "sizes" else []
    texts = [text for text in (*ax.get_yticklabels(), *ax.texts, *across) if text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent().padded(-1.5)) for text in texts]
    touching = [
        (a, b) for place, (a, one) in enumerate(boxes) for b, other in boxes[place + 1 :] if one.overlaps(other)
    ]
    assert touching == []


def test_hostile_names_stay_readable():
    ax = PICTURES["feature_shares"](None)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert "<script>alert(1)</script>" in labels
    assert "two\\nlines" in labels
    assert len(set(labels)) == len(labels)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$\\frac{$", "_b"]


def test_series_differ_without_colour():
    ax = PICTURES["sizes"](None)
    first, second = (container[0] for container in ax.containers)
    assert first.get_hatch() != second.get_hatch()
