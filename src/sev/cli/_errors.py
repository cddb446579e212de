"""Errors and warnings as one line each on standard error; with ``--debug``, as Python shows them."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from sev.cli._words import words_of_options
from sev.exceptions import InputError, ModelError, SevError

if TYPE_CHECKING:
    import pandas as pd


_DEBUG = "sev.cli.debug"
_MOST_LETTERS = 500
#: From this share of cells on, a column is one of numbers with some cells spoiled.
_MOSTLY = 0.5


def _remember_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.find_root().meta[_DEBUG] = True


debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_remember_debug,
    help="Show where an error or a warning came from.",
)


def report_error(error: Exception, context: click.Context) -> int:
    """Write what went wrong to standard error; returns the exit status: 2 for wrong use, else 1."""
    if context.meta.get(_DEBUG):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    click.echo(f"Error: {words_of_options(describe_error(error), context)}", err=True)
    return 2 if isinstance(error, InputError | ModelError) else 1


def describe_error(error: Exception) -> str:
    """An error in one paragraph: those of this package speak for themselves, others get their type and a remedy."""
    if isinstance(error, OSError) and error.strerror:
        place = error.filename2 or error.filename  # of a file that is moved, the place that the user named
        named = f"{place}: " if place is not None else ""
        return f"{named}{error.strerror}."
    if isinstance(error, SevError):
        return str(error)
    text = " ".join(str(error).split()) or "no message"
    if len(text) > _MOST_LETTERS:
        text = f"{text[:_MOST_LETTERS]} ..."
    end = "" if text.endswith((".", "!", "?", "...")) else "."
    return f"{type(error).__name__}: {text}{end} Run the command again with --debug to see where."


@contextmanager
def naming_model(model: object, data: str, rows: pd.DataFrame) -> Iterator[None]:
    """Say of errors of other libraries that a model does not take the rows of a file, and what may help."""
    try:
        yield
    except (SevError, OSError, MemoryError):
        raise
    except Exception as error:  # a model of any library, on rows that may be of another data set
        text = " ".join(str(error).split())[:_MOST_LETTERS]
        raise ModelError(
            f"The model, {type(model).__name__}, fails on the rows of {data} ({type(error).__name__}: {text}). "
            f"{_suggest_remedy(rows)}"
        ) from error


def _suggest_remedy(rows: pd.DataFrame) -> str:
    """What may help a model that does not take rows: numbers that were read as text are the usual cause."""
    codes, spoiled = _numbers_read_as_text(rows)
    remedies = [spoiled_numbers(rows)] if spoiled else []
    if codes:
        remedies.insert(
            0, f"Numbers with zeros in front were read as text; if they are quantities: --numbers {','.join(codes)}."
        )
    return " ".join(remedies) or "They must have the columns that it was fitted on; --drop leaves out others."


def spoiled_numbers(rows: pd.DataFrame) -> str:
    """Name the cells that made columns of numbers be read as text; empty where there are none."""
    spoiled = _numbers_read_as_text(rows)[1]
    if not spoiled:
        return ""
    return (
        f"A column in which most cells are numbers was read as text: {'; '.join(spoiled[:3])}. Correct the cells, or "
        "leave them empty."
    )


def _numbers_read_as_text(rows: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Columns of text that hold numbers only, and cells that are the exception in a column of numbers."""
    import pandas as pd

    codes, spoiled = [], []
    for name in rows.columns:
        column = rows[name].dropna()
        if pd.api.types.is_numeric_dtype(column.dtype) or not len(column):
            continue
        numbers = pd.to_numeric(column.astype(str).str.strip(), errors="coerce")
        if numbers.notna().all():
            codes.append(str(name))
        elif numbers.notna().mean() > _MOSTLY:
            row = int(numbers.isna().to_numpy().argmax())
            spoiled.append(f"{name} has {str(column.iloc[row])!r} in row {column.index[row]}")
    return codes, spoiled


@contextmanager
def plain_warnings(context: click.Context) -> Iterator[None]:
    """Show warnings as one line each, without the place in the code that no user of a command asked for."""
    shown = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if context.meta.get(_DEBUG):
            shown(message, category, filename, lineno, file, line)
        else:
            click.echo(f"Warning: {words_of_options(str(message), context)}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
