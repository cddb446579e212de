"""Every word of every picture comes from the language of the labels, or of the call."""

import inspect
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import show_cases as cases
from foreign_words import english_left, latin_words, without_letters
from matplotlib.text import Text

from sev import Labels, plots
from sev.core import Status

NAMES = ("α", "β", "γ", "δ", "ε")
#: The more is changed, the lower the score.
ASKED = cases.StandIn(lambda rows: 0.9 - 0.1 * (rows.astype(float) < 0).sum(axis=1).to_numpy())
TABLE = pd.DataFrame(
    {
        "method": ["μ", "μ", "ν", "ν"],
        "query": [0, 1, 0, 1],
        "flips": [1, 2, 11, np.nan],
        "seconds": [0.01, 0.02, 1.0, 3.0],
    }
)


def many(kind="minus", n_sets=1, **options):
    one, two = (Status.OPTIMAL, [(0,)]), (Status.OPTIMAL, [(0, 1), (1, 2)][:n_sets])
    rest = [(Status.FEASIBLE, [(0, 1, 2)]), *((s, []) for s in (Status.UNEXPLAINABLE, Status.UNDECIDED))]
    made = cases.made([one, two, *rest, (Status.NOT_TARGET, [])], NAMES, kind=kind, target="ω", **options)
    made.limits = dict.fromkeys(NAMES, (-3.5, 3.0))
    return made


def with_credibility(n_sets):
    return replace(many(n_sets=n_sets)[1], _credibility=lambda: 0.25)


def plane(kind):
    rows = plots.plane({"α": (0, 0.9), "β": (0, 0.9)}, n=3)
    states = [(Status.NOT_TARGET, []), (Status.OPTIMAL, [(0,)]), (Status.OPTIMAL, [(0, 1)])]
    states += [(Status.UNEXPLAINABLE, []), (Status.UNDECIDED, [])]
    made = cases.made((states * 2)[:9], ("α", "β"), kind=kind)
    made._queries = rows
    return made


def menu(outcomes=("works", "works", "works"), searched="all"):
    return pd.DataFrame(
        {
            "features": [("α",), ("β",), ("α", "β")],
            "size": [1, 1, 2],
            "outcome": outcomes,
            "old": [{"α": 1}, {"β": 1}, {"α": 1, "β": None}],
            "changes": [{"α": -1}, {"β": True}, {"α": -1, "β": 0.5}],
            "enough": [{}, {}, {}],
            "cost": [0.5, 1.0, 2.5],
            "searched": searched,
        }
    )


def sizes_table(column):
    return pd.DataFrame({"accuracy": [0.725, 0.8], column: [1.0, np.nan]}, index=["μ", "ν"])


#: Over what a change is proven.
SCOPES = {
    "of permitted features": {"restricted": ("δ",), "_compare": lambda: "smaller"},
    "of permitted changes": {"has_actions": True},
    "of some values": {"values_searched": "candidates"},
    "of least cost": {"minimise": "cost"},
    "of least cost, some values": {"minimise": "cost", "values_searched": "candidates"},
}
DRAWN = {
    **{f"changes {row}": lambda row=row, **_: plots.changes(many()[row], **_) for row in range(6)},
    **{f"changes {scope}": lambda fields=fields, **_: plots.changes(replace(many()[1], **fields), **_)
       for scope, fields in SCOPES.items()},
    "changes of an error": lambda **_: plots.changes(
        cases.made([(Status.ERROR, [])], NAMES)[0], max_features=4, **_
    ),
    "changes, more sets": lambda **_: plots.changes(many(n_sets=2, complete=False)[1], max_features=2, **_),
    "changes, restricted": lambda **_: plots.changes(many(n_sets=2, restricted=("δ",))[1], **_),
    "changes, credibility": lambda **_: plots.changes(with_credibility(1), **_),
    "changes, credibility of the first": lambda **_: plots.changes(with_credibility(2), **_),
    "changes of plus": lambda **_: plots.changes(many("plus")[0], **_),
    "changes of plus, two": lambda **_: plots.changes(many("plus")[1], **_),
    "ranges": lambda **_: plots.ranges(many()[0], **_),
    "ranges, feasible": lambda **_: plots.ranges(many()[2], **_),
    "hypercube": lambda **_: plots.hypercube(many(n_sets=2)[1], explainer=ASKED, **_),
    "hypercube of four": lambda **_: plots.hypercube(many()[1], features=NAMES[:4], explainer=ASKED, **_),
    "hypercube of all": lambda **_: plots.hypercube(
        cases.made([(Status.OPTIMAL, [(0,)])], NAMES[:2])[0], explainer=ASKED, **_
    ),
    "hypercube of plus": lambda **_: plots.hypercube(many("plus")[1], features=NAMES[:2], explainer=ASKED, **_),
    "hypercube of plus, four": lambda **_: plots.hypercube(
        many("plus")[1], features=NAMES[:4], explainer=ASKED, **_
    ),
    "hypercube without a set": lambda **_: plots.hypercube(many()[3], features=NAMES[:2], explainer=ASKED, **_),
    "hypercube of a part": lambda **_: plots.hypercube(many()[2], features=NAMES[:2], explainer=ASKED, **_),
    "score_path": lambda **_: plots.score_path(many()[1], explainer=ASKED, **_),
    "score_path of plus": lambda **_: plots.score_path(many("plus")[1], explainer=ASKED, **_),
    "menu": lambda **_: plots.menu(menu(), max_sets=2, **_),
    "menu of one": lambda **_: plots.menu(menu(("works", "cannot work", "not decided")), **_),
    "menu of nothing": lambda **_: plots.menu(menu(("cannot work",) * 3), **_),
    "menu of single features": lambda **_: plots.menu(menu()[:2], max_sets=1, **_),
    "sizes": lambda **_: plots.sizes({"μ": many(), "ν": many("plus")}, **_),
    "sizes, one row": lambda **_: plots.sizes(cases.made([(Status.OPTIMAL, [(0,)])], NAMES), share=False, **_),
    "sizes, one with a set": lambda **_: plots.sizes(many()[1:2:1], **_),
    "feature_shares": lambda **_: plots.feature_shares({"μ": many(restricted=("δ",)), "ν": many()}, **_),
    "feature_shares, any": lambda **_: plots.feature_shares(many(), sets="any", max_features=2, **_),
    "feature_shares, all but one": lambda **_: plots.feature_shares(many()[:3], max_features=2, **_),
    "together": lambda **_: plots.together(many(), max_features=2, **_),
    "together, all but one": lambda **_: plots.together(cases.every_status(NAMES[:3]), max_features=2, **_),
    "flow": lambda **_: plots.flow(many(), many(), **_),
    "flow of two": lambda **_: plots.flow(many()[[0, 3, 5, 5]], many()[[0, 3, 5, 5]], **_),
    "regions": lambda **_: plots.regions(plane("minus"), **_),
    "regions of plus": lambda **_: plots.regions(plane("plus"), **_),
    "methods": lambda **_: plots.methods(TABLE, **_),
    "flips": lambda **_: plots.flips(TABLE, **_),
    "flips of one": lambda **_: plots.flips(TABLE[:1], **_),
    **{f"tradeoff {column}": lambda column=column, **_: plots.tradeoff(sizes_table(column), **_)
       for column in ("mean_size", "sev_minus", "sev_plus", "sev_restricted")},
}  # fmt: skip


def texts_of(ax):
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text()]


def test_every_picture_takes_a_language():
    drawn = {name.split(" ")[0].rstrip(",") for name in DRAWN}
    assert drawn == set(plots.__all__) - {"plane"}
    for name in drawn:
        assert inspect.signature(getattr(plots, name)).parameters["language"].default is None, name


@pytest.mark.parametrize("name", DRAWN)
def test_no_word_of_a_picture_is_written_in_its_code(name):
    words = latin_words("\n".join(texts_of(DRAWN[name](language=without_letters()))), "SEV", "the model raised")
    assert words == []


@pytest.mark.parametrize("code", ["de", "es"])
@pytest.mark.parametrize("name", DRAWN)
def test_no_english_is_left_on_a_picture(name, code):
    texts = texts_of(DRAWN[name](language=code))
    assert english_left("\n".join(texts).replace("the model raised", ""), code) == []
    assert not [text for text in texts if re.search(r"\d\.\d|\d%", text)]


def test_a_picture_has_the_language_of_the_labels():
    made = many()
    made.labels = Labels(features={"α": "das Alter"}, classes={"ω": "abgelehnt"}, language="de")
    told = " ".join(" ".join(texts_of(plots.changes(made[0]))).split())
    for part in ("abgelehnt; 1 Merkmal hebt das auf", "das Alter", "keine kleinere Auswahl wirkt", "Schwelle 0,5"):
        assert part in told
    assert "Anteil der erklärten Zeilen" in texts_of(plots.sizes(made))
    assert "1 feature undoes it" in " ".join(texts_of(plots.changes(made[0], language="en")))
    told = " ".join(texts_of(plots.menu(menu(), labels=Labels(language="es"))))
    assert "3 cambios llevarían a otra decisión" in told
