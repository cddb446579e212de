"""What holds for every picture: hostile names, the given Axes, no overlap, nothing shown, grey readable."""

import sys

import matplotlib.pyplot as plt
import pytest
from plots.pictures import PICTURES

from sev import plots
from sev.exceptions import MissingDependencyError


class _NoMatplotlib:
    """An import system without matplotlib."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name=name)


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


@pytest.mark.parametrize(
    "name", ["feature_shares", "together", "sizes", "flow", "changes", "score_path", "ranges", "menu"]
)
def test_texts_do_not_overlap(name):
    ax = PICTURES[name](None)
    ax.figure.canvas.draw()
    across = ax.get_xticklabels() if name == "sizes" else []
    low, high = sorted(ax.get_ylim())
    # labels of ticks beyond the ends of the axis exist, but are not drawn
    upward = [tick.label1 for tick in ax.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    texts = [text for text in (*upward, *ax.texts, *across) if text.get_text().strip()]
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
