"""Every plot of one explanation says how credible its result is."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev

PLOTS = {
    "changes": lambda one: one.plot(),
    "hypercube": sev.plots.hypercube,
    "score path": sev.plots.score_path,
    "ranges": sev.plots.ranges,
}


def subtitle(plot, one):
    ax = PLOTS[plot](one)
    [below] = [text.get_text() for text in ax.texts if text.get_gid() == "subtitle"]
    plt.close(ax.figure)
    return below.replace("\n", " ")


@pytest.mark.parametrize("plot", PLOTS)
def test_credibility_is_under_the_title_where_it_is_known(plot):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    labels = (rows.a + rows.b > 0).astype(int)
    model = LogisticRegression().fit(rows, labels)
    values = "any" if plot == "ranges" else "reference"
    query = rows[labels == 1].iloc[0]
    one = sev.Explainer(model, rows, labels).explain_one(query, values=values)
    assert one.credibility is not None
    which = "the first result" if len(one.sets) > 1 else "the result"
    told = f"; {which} is more ordinary than {one.credibility:.0%} of the real rows of the other class"
    assert subtitle(plot, one).endswith(told)
    without = sev.Explainer(model, rows, labels, credibility=False).explain_one(query, values=values)
    assert without.credibility is None
    assert "ordinary" not in subtitle(plot, without)
