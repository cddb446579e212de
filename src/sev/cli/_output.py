"""What commands write: results on standard output; progress and everything else on standard error."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pandas as pd

from sev.core import plain_value
from sev.typing import JSONValue

if TYPE_CHECKING:
    from tqdm import tqdm

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def output_file(output: str, suffix: str) -> Iterator[str]:
    """A path to write one file to; for ``-``, what is written there goes to standard output."""
    if output != "-":
        yield output
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"output{suffix}"
        yield str(path)
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.buffer.flush()


def write_result(result: Mapping[str, object], as_json: bool) -> None:
    """A few named values: one JSON object, or one line each; on standard error if a file went to standard output."""
    err = result.get("output") == "-"
    plain = {name: plain_result(value) for name, value in result.items()}
    if as_json:
        named = {name.replace(" ", "_"): value for name, value in plain.items()}
        click.echo(json.dumps(named, ensure_ascii=False), err=err)
        return
    width = max(len(name) for name in plain)
    for name, value in plain.items():
        if isinstance(value, dict):
            shown = ", ".join(f"{key} {_plain_number(entry)}" for key, entry in value.items())
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else _plain_number(value)
        shown = shown or "none"
        click.echo(f"{name:<{width}}  {shown}", err=err)


def write_frame(frame: pd.DataFrame, as_json: bool) -> None:
    """A table: one JSON object a line, or aligned columns."""
    if not as_json:
        click.echo(frame.to_string(na_rep=""))
        return
    for label, row in frame.iterrows():
        entry = {str(name): plain_result(value) for name, value in row.items()}
        click.echo(json.dumps({"name": plain_result(label), **entry}, ensure_ascii=False))


def say(message: str, quiet: bool) -> None:
    """A message to whoever watches."""
    if not quiet:
        click.echo(message, err=True)


class Progress:
    """Rows done, rate and remaining time: a bar on a terminal, a plain line now and then elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: tqdm | None = None
        self._total: int | None = None
        self._started = self._last_line = time.monotonic()
        self._kept = 0
        self.done = 0

    def start(self, total: int | None, done: int) -> None:
        """Begin, when it is known how many rows there are; ``done`` of them say nothing about the speed of this run."""
        self._total = total
        self.done = self._kept = done
        self._started = self._last_line = time.monotonic()
        if not self._quiet and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit=" rows", unit_scale=True, desc="Explaining")

    def update(self, rows: int) -> None:
        """Some rows more are done."""
        self.done += rows
        if self._bar is not None:
            self._bar.update(rows)
        elif not self._quiet and time.monotonic() - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            click.echo(self._describe_progress(), err=True)

    def close(self) -> None:
        """End the bar, and tell what this run and an earlier one have done."""
        if self._bar is not None:
            self._bar.close()
        if not self._quiet and self.done and (self._bar is None or self._kept):
            click.echo(self._describe_progress(), err=True)

    def _describe_progress(self) -> str:
        new = self.done - self._kept
        rate = new / max(time.monotonic() - self._started, 1e-9)
        earlier = f" ({self._kept:,} more were done by an earlier run)" if self._kept else ""
        line = f"explained {new:,} rows{earlier}, {rate:,.0f} rows/s"
        if not self._total:
            return line
        left = f", {(self._total - self.done) / rate:,.0f} s left" if rate else ""
        return f"{line}, {100 * self.done / self._total:.0f} % of {self._total:,}{left}"


def plain_result(value: object) -> JSONValue:
    """A value of a result, ready for JSON."""
    if isinstance(value, Mapping):
        return {str(key): plain_result(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_result(entry) for entry in value]
    return plain_value(value)


def _plain_number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
