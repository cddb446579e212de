"""Linear and additive models: each feature moves the margin by a fixed amount, so the biggest movers are a minimum
set.
"""

from sev.backends.linear._backend import LinearBackend, additive_backend, identity
from sev.backends.linear._solver import solve_gains

__all__ = ["LinearBackend", "additive_backend", "identity", "solve_gains"]
