"""Any callable: level by level over the hypercube, in large batches, with the model's own scores only."""

from sev.backends.blackbox._solver import solve_blackbox

__all__ = ["solve_blackbox"]
