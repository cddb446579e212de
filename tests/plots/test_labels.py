"""Texts inside pictures of changes are whole: wrapped instead of cut, inside the figure, and apart."""

import matplotlib.pyplot as plt
import pytest
import show_cases as cases

from sev import Labels, plots
from sev.core import Status

NAMES = ("history", "employment", "rate")
VALUE = "critical account, or other credits existing that are not at this bank"
LABELS = Labels(
    features={
        "history": {
            "label": "the history of credits taken and how they were paid back",
            "values": {-1.5: VALUE, 0: VALUE, -1: VALUE, 1: VALUE},
        },
        "employment": "the time since which the present employment has lasted",
        "rate": "WWWWW WWWW WWWWW WWWWW MMMM",
    }
)


def made_ranges(ax):
    many = cases.made([(Status.OPTIMAL, [(0, 1, 2)])], NAMES)
    many.labels = LABELS
    many.limits = dict.fromkeys(NAMES, (-3.0, 3.0))
    return plots.ranges(many[0], ax=ax)


def made_menu(ax):
    import pandas as pd

    sets = [("history",), ("history", "employment"), ("employment", "rate")]
    table = pd.DataFrame(
        {
            "features": sets,
            "size": [len(one) for one in sets],
            "outcome": "works",
            "old": [dict.fromkeys(one, 1) for one in sets],
            "changes": [dict.fromkeys(one, -1) for one in sets],
            "enough": [{} for _ in sets],
            "cost": [1.0, 2.0, 0.5],
            "searched": "all",
        }
    )
    return plots.menu(table, ax=ax, labels=LABELS)


DRAWN = {"ranges": made_ranges, "menu": made_menu}


def texts_in(ax):
    return [text for text in ax.texts if text.get_text() and text.get_gid() != "subtitle"]


@pytest.mark.parametrize("name", DRAWN)
def test_no_text_is_cut(name):
    words = " ".join(" ".join(text.get_text() for text in texts_in(DRAWN[name](None))).split())
    assert "\u2026" not in words
    assert VALUE in words
    assert LABELS.features["employment"] in words


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", DRAWN)
def test_texts_are_inside_the_figure_and_apart(name, given):
    ax = DRAWN[name](plt.subplots()[1] if given else None)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts_in(ax)]
    for number, box in enumerate(boxes):
        assert box.x0 >= -0.5
        assert box.x1 <= ax.figure.bbox.x1 + 0.5
        others = [other for other in boxes[number + 1 :] if box.padded(-1).overlaps(other)]
        assert not others, texts_in(ax)[number].get_text()


@pytest.mark.parametrize("dpi", [50, 70, 100, 200])
def test_texts_of_a_menu_end_before_its_bars_whatever_the_resolution(dpi):
    ax = made_menu(None)
    ax.figure.set_dpi(dpi)
    ax.figure.canvas.draw()
    bars = min(bar.get_window_extent().x0 for bar in ax.patches)
    left_of_bars = [box for text in texts_in(ax) if (box := text.get_window_extent()).x0 < bars]
    assert len(left_of_bars) == 6
    assert max(box.x1 for box in left_of_bars) < bars
