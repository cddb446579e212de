"""The paper's tables and figures, computed with this library and shown beside the paper's own.

One module makes one table or figure, on top of the public interface. :func:`reproduce` runs them all; on the command
line it is ``sev reproduce``.
"""

from sev_reproduction._plan import Plan
from sev_reproduction._reproduce import Reproduction, reproduce, show_recorded

__all__ = ["Plan", "Reproduction", "reproduce", "show_recorded"]
