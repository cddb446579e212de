"""Reasons for notices, records for auditors, and the report that a person opens in a browser."""

from sev.reports._codes import Codes, CodesLike, Direction, load_codes
from sev.reports._reasons import Reasons, reason_table, reasons
from sev.reports._report import report

__all__ = ["Codes", "CodesLike", "Direction", "Reasons", "load_codes", "reason_table", "reasons", "report"]
