"""The smallest set of reasons for every decision of a tabular classifier."""

from sev.explanations._status import Status

__version__ = "0.1.0"

__all__ = ["Status", "__version__"]
