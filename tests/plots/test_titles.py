"""Titles and the lines under them are never cut, neither by the edge of the figure nor by another picture."""

import gc
import weakref
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import show_cases as cases
from plots.pictures import PICTURES, hostile

import sev
from sev import plots
from sev.core import Status


def failed():
    """A row on which the model failed with a long message."""
    many = cases.made([(Status.ERROR, [])])
    many._answers = replace(many._answers, reasons={0: "ValueError: " + "something went wrong, " * 8})
    return many[0]


MANY = {f"a model of the year {year} with a long name": hostile() for year in range(2010, 2018)}
LONG = {
    "sizes": lambda ax: plots.sizes(MANY, ax=ax),
    "feature_shares": lambda ax: plots.feature_shares(dict(list(MANY.items())[:2]), ax=ax, max_features=3),
    "tradeoff": lambda ax: plots.tradeoff(
        pd.DataFrame({"accuracy": 0.7, "mean_size": [1.0] + [np.nan] * 7}, index=list(MANY)), ax=ax
    ),
    "changes": lambda ax: plots.changes(
        cases.made([(Status.OPTIMAL, [(0,)])], target="a class with a name that is as long as a sentence, or longer")[
            0
        ],
        ax=ax,
    ),
    "an error": lambda ax: plots.changes(failed(), ax=ax),
    "one long word": lambda ax: plots.sizes({"w" * 200: hostile()}, ax=ax),
}


def headings(ax):
    """Title and subtitle, as they are on the drawn figure."""
    ax.figure.canvas.draw()
    above = [text for text in ax.texts if text.get_gid() == "subtitle"]
    assert len(above) == 1
    return [ax._left_title.get_window_extent(), above[0].get_window_extent()]


def assert_inside(box, limits):
    assert box.x0 >= limits.x0 - 0.5
    assert box.y0 >= limits.y0 - 0.5
    assert box.x1 <= limits.x1 + 0.5
    assert box.y1 <= limits.y1 + 0.5


@pytest.mark.parametrize("name", [*PICTURES, *(f"long: {name}" for name in LONG)])
def test_headings_are_inside_the_figure_and_apart(name):
    draw = PICTURES[name] if name in PICTURES else LONG[name.removeprefix("long: ")]
    ax = draw(None)
    main, below = headings(ax)
    for box in (main, below):
        assert_inside(box, ax.figure.bbox)
    assert not main.overlaps(below)
    assert below.y0 >= ax.bbox.y1 - 0.5


@pytest.mark.parametrize("dpi", [50, 80, 100, 220])
@pytest.mark.parametrize("n_features", [1, 3, 7])
def test_headings_of_pairs_are_inside_the_figure_whatever_its_resolution(n_features, dpi):
    names = tuple(f"the status of the checking account {number}" for number in range(20))
    many = cases.made([(Status.OPTIMAL, [(number,)]) for number in range(n_features)], names)
    ax = plots.together(many)
    for _ in range(3):  # the layout must stand still, not drift from one drawing to the next
        ax.figure.canvas.draw()
    ax.figure.set_dpi(dpi)
    for box in headings(ax):
        assert_inside(box, ax.figure.bbox)


@pytest.mark.parametrize("name", ["sizes", "tradeoff", "changes"])
def test_headings_of_pictures_side_by_side_are_apart(name):
    figure, axes = plt.subplots(1, 2, figsize=(14, 5), layout="constrained")
    for ax in axes:
        LONG[name](ax)
    boxes = [box for ax in axes for box in headings(ax)]
    for box in boxes:
        assert_inside(box, figure.bbox)
    for place, box in enumerate(boxes):
        assert not [other for other in boxes[place + 1 :] if box.padded(-0.5).overlaps(other)]


def test_no_word_of_a_heading_is_lost():
    ax = LONG["sizes"](None)
    above = next(text for text in ax.texts if text.get_gid() == "subtitle").get_text()
    assert above.count("\n") >= 1
    assert " ".join(above.split()).count("explained rows") == len(MANY)
    assert ax.get_title(loc="left").replace("\n", " ") == "How many features explain a decision (SEV-)"


@pytest.mark.parametrize("name", ["sizes", "together"])
def test_a_title_that_is_wider_than_the_figure_continues_on_the_next_line(name):
    figure, ax = plt.subplots(figsize=(2.2, 3.5), layout="constrained")
    getattr(plots, name)(cases.every_status(), ax=ax)
    assert "\n" in ax.get_title(loc="left")
    main, below = headings(ax)
    assert main.x0 >= -0.5
    assert main.x1 <= figure.bbox.x1 + 0.5
    assert not main.overlaps(below)


def test_short_headings_stay_on_one_line():
    ax = plots.sizes(cases.every_status())
    assert "\n" not in ax.get_title(loc="left")
    assert "\n" not in next(text for text in ax.texts if text.get_gid() == "subtitle").get_text()


def test_headings_do_not_squeeze_the_picture():
    """A long line above the picture takes height, not width."""
    widths = []
    for name in ("short", "a name of many words " * 12):
        ax = plots.tradeoff(
            pd.DataFrame({"accuracy": [0.7, 0.8], "mean_size": [1.0, np.nan]}, index=["first", name[:30]]),
        )
        ax.figure.canvas.draw()
        widths.append(ax.bbox.width)
    assert widths[0] == pytest.approx(widths[1], rel=0.01)


def test_a_closed_figure_is_not_kept():
    kept = weakref.ref(plots.sizes(cases.every_status()))
    plt.close("all")
    gc.collect()
    assert kept() is None


def test_a_cube_of_a_part_of_a_set_says_so():
    """A cube has four features at most: of a larger set, no corner of it need change the decision."""
    rows = pd.DataFrame(np.zeros((6, 5)), columns=list("abcde"))
    rows.iloc[3:] = 1.0
    explainer = sev.Explainer(
        lambda frame: np.asarray(frame).sum(axis=1) / 6 + 0.1, rows, [0, 0, 0, 1, 1, 1], threshold=0.2
    )
    one = explainer.explain_one(rows.iloc[5], max_predictions=None)
    assert one.size == 5
    [told] = [text.get_text() for text in one.plot("hypercube").texts if text.get_gid() == "subtitle"]
    assert "4 of the 5 features that change the decision together" in " ".join(told.split())
