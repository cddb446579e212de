"""What users call: wires space, references, backends and results together."""

from sev.explainers._checks import warn_if_nothing_may_change
from sev.explainers._explainer import Explainer
from sev.explainers._options import DEFAULT_MAX_PREDICTIONS, ExplainOptions, check_n_jobs
from sev.explainers._saving import load
from sev.explainers._task import Task
from sev.explainers._work import Settings

__all__ = [
    "DEFAULT_MAX_PREDICTIONS",
    "ExplainOptions",
    "Explainer",
    "Settings",
    "Task",
    "check_n_jobs",
    "load",
    "warn_if_nothing_may_change",
]
