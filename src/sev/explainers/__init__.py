"""What users call: wires space, references, backends and results together."""

from sev.explainers._explainer import DEFAULT_MAX_PREDICTIONS, Explainer
from sev.explainers._saving import load
from sev.explainers._task import Task

__all__ = ["DEFAULT_MAX_PREDICTIONS", "Explainer", "Task", "load"]
