"""Pictures of explanations: each function takes a result, draws on ``ax`` or a new figure, and returns the Axes.

They compute nothing that the result does not hold, never call ``show``, and draw names as they are: dollar signs,
angle brackets and line breaks included. Colours can be told apart by colour-blind people and, with hatches and
labels, in print without colour.
"""

from sev.plots._changes import changes
from sev.plots._feature_shares import feature_shares
from sev.plots._flips import flips
from sev.plots._flow import flow
from sev.plots._hypercube import hypercube
from sev.plots._menu import menu
from sev.plots._methods import methods
from sev.plots._ranges import ranges
from sev.plots._regions import plane, regions
from sev.plots._score_path import score_path
from sev.plots._sizes import sizes
from sev.plots._together import together
from sev.plots._tradeoff import tradeoff

__all__ = [
    "changes",
    "feature_shares",
    "flips",
    "flow",
    "hypercube",
    "menu",
    "methods",
    "plane",
    "ranges",
    "regions",
    "score_path",
    "sizes",
    "together",
    "tradeoff",
]
