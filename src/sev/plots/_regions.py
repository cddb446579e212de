"""Two features: where one of them explains a decision, where both are needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Status, kind_label
from sev.exceptions import InputError
from sev.plots import _style as style
from sev.plots._headings import title
from sev.plots._shown import ChosenLanguage, ShownExplanations, check_many, speaker_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Text, colour and hatch of each kind of region, by code.
_REGIONS = (
    ("plot_other_class", "#EEF5FA", ""),
    ("plot_one_feature", "#F4C4A2", ""),
    ("plot_both_features", "#F0C64A", "///"),
    ("status_unexplainable", "#B3B3B3", "xxx"),
    ("plot_undecided_or_error", "#DDDDDD", "..."),
)


def plane(ranges: Mapping[str, tuple[float, float]], n: int = 121) -> pd.DataFrame:
    """Rows on a regular grid over two features, to be explained and then drawn by :func:`regions`.

    Parameters
    ----------
    ranges : mapping of two names to pairs of numbers
        The smallest and the largest value of each feature.
    n : int, default=121
        Number of points along each.

    Returns
    -------
    DataFrame
        ``n * n`` rows.

    Raises
    ------
    InputError
        If there are not two features.

    Examples
    --------
    >>> import sev.plots
    >>> sev.plots.plane({"a": (0, 1), "b": (0, 2)}, n=3).shape
    (9, 2)
    """
    if not isinstance(ranges, Mapping) or len(ranges) != 2:
        raise InputError(f"plane needs a mapping from two features to their ranges, got {ranges!r}.")
    (first, across), (second, up) = ranges.items()
    grid_up, grid_across = np.meshgrid(np.linspace(*up, n), np.linspace(*across, n), indexing="ij")
    return pd.DataFrame({first: grid_across.ravel(), second: grid_up.ravel()})


def regions(explanations: ShownExplanations, *, ax: Axes | None = None, language: ChosenLanguage = None) -> Axes:
    """Draw regions of equal sparse explanation value, with decision boundary and reference.

    Parameters
    ----------
    explanations : Explanations
        Of the rows of :func:`plane`, by a model of two features.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is the language of the labels.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        If the rows are not a plane of two features.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> from sklearn.linear_model import LogisticRegression
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y, reference="mean")
    >>> ax = sev.plots.regions(explainer.explain(sev.plots.plane({"debt": (0, 8), "late": (0, 8)}, n=9)))
    """
    check_many(explanations, "regions")
    speaker = speaker_of(explanations, language)
    codes, scores, reference, threshold = _prepare(explanations)
    ax = style.new_axes(ax, 6.4, 4.0)
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    x, y = codes.columns.to_numpy(), codes.index.to_numpy()
    colours = ListedColormap([colour for _, colour, _ in _REGIONS])
    norm = BoundaryNorm(np.arange(len(_REGIONS) + 1) - 0.5, len(_REGIONS))
    ax.pcolormesh(x, y, codes.to_numpy(), cmap=colours, norm=norm, shading="nearest", rasterized=True)
    present = [code for code in range(len(_REGIONS)) if (codes.to_numpy() == code).any()]
    for code in present:
        if _REGIONS[code][2]:
            inside = (codes.to_numpy() == code).astype(float)
            ax.contourf(x, y, inside, levels=[0.5, 1.5], colors="none", hatches=[_REGIONS[code][2]])
    if scores.min() < threshold <= scores.max():
        ax.contour(x, y, scores, levels=[threshold], colors=[style.NEGATIVE], linewidths=2.4)
    first, second = reference.index
    ax.axvline(reference[first], color=style.FAINT, linewidth=0.9, linestyle=":")
    ax.axhline(reference[second], color=style.FAINT, linewidth=0.9, linestyle=":")
    ax.scatter(reference[first], reference[second], s=170, marker="*", color=style.INK, edgecolor=style.PAPER, zorder=4)
    handles: list[Artist] = [
        Patch(facecolor=_REGIONS[code][1], edgecolor=style.FAINT, hatch=_REGIONS[code][2]) for code in present
    ]
    handles += [
        Line2D([], [], color=style.NEGATIVE, linewidth=2.4),
        Line2D([], [], marker="*", color=style.INK, linestyle="none", markersize=11),
    ]
    names = [*(_REGIONS[code][0] for code in present), "plot_boundary", "plot_reference"]
    style.legend(ax, handles, [speaker.text(name) for name in names])
    ax.set_xlabel(style.name_text(speaker.label(first)), color=style.FAINT, **style.LITERAL)
    ax.set_ylabel(style.name_text(speaker.label(second)), color=style.FAINT, **style.LITERAL)
    for axis in (ax.xaxis, ax.yaxis):
        style.number_ticks(axis, speaker.raw("decimal"))
    ax.tick_params(length=0, labelsize=8.5)
    head = speaker.text("plot_regions", label=kind_label(explanations.kind))
    title(ax, head, speaker.text(f"plot_regions_{explanations.kind}"))
    return ax


def _prepare(explanations: ShownExplanations) -> tuple[pd.DataFrame, np.ndarray, pd.Series, float]:
    """Region codes and scores on the grid (rows go up, columns go right), the reference, the threshold."""
    queries = explanations.queries
    if queries.shape[1] != 2:
        raise InputError(f"Regions are drawn for two columns, got {queries.shape[1]}.")
    first, second = queries.columns
    codes = np.where(np.isnan(explanations.sizes), 4, np.clip(np.nan_to_num(explanations.sizes), 1, 2)).astype(int)
    codes[explanations.statuses == Status.UNEXPLAINABLE] = 3
    codes[explanations.statuses == Status.NOT_TARGET] = 0
    places = pd.DataFrame({"x": queries[first].to_numpy(), "y": queries[second].to_numpy()})
    if places.duplicated().any() or len(places) != places["x"].nunique() * places["y"].nunique():
        raise InputError("The rows are not a regular grid over two features: make them with sev.plots.plane.")
    grid = places.assign(code=codes, score=explanations.scores)
    reference = explanations.references.iloc[0]
    scores = grid.pivot(index="y", columns="x", values="score").to_numpy()
    return grid.pivot(index="y", columns="x", values="code"), scores, reference, explanations.thresholds[0]
