"""Results as an Excel workbook of one sheet, in which no cell is run as a formula."""

from __future__ import annotations

import io
import re
import zipfile
from typing import IO, TYPE_CHECKING

import pyarrow as pa

from sev._optional import require
from sev.exceptions import BatchError

if TYPE_CHECKING:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    from sev.typing import Cell


#: Rows of a sheet, the header included, and letters of a cell, as Excel has them.
MOST_ROWS = 1_048_576
_MOST_LETTERS = 32_767
_WIDEST = 60
_OLDEST_DATE = (1980, 1, 1, 0, 0, 0)
_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


class ExcelWriter:
    """Collects tables of one schema and writes a workbook when it is closed; the same bytes for the same tables."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        openpyxl = require("openpyxl", extra="excel", feature="Writing Excel files")
        self._file = file
        self._book = openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("explanations")
        self._cell = openpyxl.cell.WriteOnlyCell
        self._bold = openpyxl.styles.Font(bold=True)
        self._wrap = openpyxl.styles.Alignment(wrap_text=True, vertical="top")
        self._illegal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
        self._n_rows = 1
        for number, name in enumerate(schema.names):
            letter = openpyxl.utils.get_column_letter(number + 1)
            wide = pa.types.is_list(schema.field(number).type) or name in ("sentence", "reason", "sets")
            self._sheet.column_dimensions[letter].width = _WIDEST if wide else min(max(len(name) + 3, 10), _WIDEST)
        self._sheet.freeze_panes = "A2"
        last = openpyxl.utils.get_column_letter(max(len(schema.names), 1))
        self._sheet.auto_filter.ref = f"A1:{last}1"
        self._sheet.append([self._make_text_cell(name, font=self._bold) for name in schema.names])

    def write(self, table: pa.Table) -> None:
        """Add the rows of a table."""
        self._n_rows += table.num_rows
        if self._n_rows > MOST_ROWS:
            raise BatchError(
                f"An Excel sheet holds {MOST_ROWS - 1:,} rows and there are more: write .csv or .parquet instead."
            )
        columns = [column.to_pylist() for column in table.columns]
        for row in zip(*columns, strict=True):
            self._sheet.append([self._make_cell(value) for value in row])

    def close(self) -> None:
        """Write the workbook."""
        written = io.BytesIO()
        self._book.save(written)
        # the moment of writing is no part of the results
        with zipfile.ZipFile(written) as old, zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED) as new:
            for info in old.infolist():
                data = old.read(info)
                if info.filename == "docProps/core.xml":
                    data = _DATES.sub(rb"\g<1>1980-01-01T00:00:00Z", data)
                new.writestr(zipfile.ZipInfo(info.filename, _OLDEST_DATE), data, zipfile.ZIP_DEFLATED)

    def abandon(self) -> None:
        """Let go of the rows that openpyxl keeps in a file of its own."""
        self._book.save(io.BytesIO())

    def _make_cell(self, value: Cell) -> WriteOnlyCell | float | None:
        if isinstance(value, list):
            parts = [" + ".join(one) if isinstance(one, list) else str(one) for one in value]
            return self._make_text_cell("; ".join(parts) if value and isinstance(value[0], list) else ", ".join(parts))
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return value if value == value and abs(value) != float("inf") else None
        return self._make_text_cell(value.decode(errors="replace") if isinstance(value, bytes) else str(value))

    def _make_text_cell(self, text: str, font: Font | None = None) -> WriteOnlyCell:
        shown = self._illegal.sub("\ufffd", text)
        if len(shown) > _MOST_LETTERS:
            shown = f"{shown[: _MOST_LETTERS - 4]} ..."
        cell = self._cell(self._sheet, value=shown)
        cell.data_type = "s"  # never a formula, whatever it starts with
        if font is not None:
            cell.font = font
        elif len(shown) > _WIDEST:
            cell.alignment = self._wrap
        return cell
