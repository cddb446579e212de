"""How inner loops become machine code.

Kernels are written in Python that numba compiles (``source.py``). What numba makes of them before it knows a processor
lies beside their sources (``_archive.py``; ``build.py`` writes it), so that a first call only has to make machine code
for this processor, once (``_machine.py``), and numba is not imported. ``_calls.py`` is the way in from Python.
"""

from sev.kernels._kinds import Form
from sev.kernels._load import load_kernels

__all__ = ["Form", "load_kernels"]
