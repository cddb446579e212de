"""Imported once by the server that test processes are forked from: imports and kernels are then there already."""

from files import loans

import sev.batch  # noqa: F401

loans.explainer().explain(loans.rows(50)).to_frame()
