"""What users call: wires space, references, backends and search together."""

from sev.explainers._explainer import Explainer

__all__ = ["Explainer"]
