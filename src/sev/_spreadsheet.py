"""Text that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

#: What spreadsheets skip at the start of a cell, then what makes them read a formula (the wide forms too).
_SKIPPED = r"[\s\x00-\x20\x{A0}\x{200B}-\x{200F}\x{2028}\x{2029}\x{3000}\x{FEFF}]*"
FORMULA_START = _SKIPPED + r"[=+@\-\t\r\n＝＋－＠]"
_START = re.compile(re.sub(r"\\x\{([0-9A-F]+)\}", lambda code: chr(int(code.group(1), 16)), FORMULA_START))


def escape_formula(text: str) -> str:
    """Text that a spreadsheet shows instead of running it: an apostrophe goes before whatever starts like a formula.

    Examples
    --------
    >>> from sev._spreadsheet import escape_formula
    >>> escape_formula("=1+2"), escape_formula("-5"), escape_formula(" @SUM(A1)"), escape_formula("plain")
    ("'=1+2", '-5', "' @SUM(A1)", 'plain')
    """
    return f"'{text}" if _START.match(text) and not _is_number(text) else text


def csv_line(cells: Iterable[str], delimiter: str = ",") -> str:
    r"""Cells as a line of a CSV file that ends in a line feed.

    A cell with a carriage return stands in quotes, or what follows it would be read as a cell of the next line.

    Examples
    --------
    >>> from sev._spreadsheet import csv_line
    >>> csv_line(["a", "b,c"])
    'a,"b,c"\n'
    """
    line = io.StringIO()
    # the writer quotes the letters of its own line end, and no other one
    csv.writer(line, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and not text[:1].isspace()
