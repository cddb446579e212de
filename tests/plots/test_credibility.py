"""The changes plot says how credible the result is."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import sev


def subtitle(one):
    ax = one.plot()
    [below] = [text.get_text() for text in ax.texts if text.get_gid() == "subtitle"]
    plt.close(ax.figure)
    return below.replace("\n", " ")


def test_credibility_is_under_the_title_where_it_is_known():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    labels = (rows.a + rows.b > 0).astype(int)
    model = LogisticRegression().fit(rows, labels)
    one = sev.Explainer(model, rows, labels).explain_one(rows[labels == 1].iloc[0])
    assert one.credibility is not None
    which = "the first result" if len(one.sets) > 1 else "the result"
    told = f"; {which} is more ordinary than {one.credibility:.0%} of the real rows of the other class"
    assert subtitle(one).endswith(told)
    without = sev.Explainer(model, rows, labels, credibility=False).explain_one(rows[labels == 1].iloc[0])
    assert without.credibility is None
    assert "ordinary" not in subtitle(without)
