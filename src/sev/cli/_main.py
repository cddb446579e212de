"""The command ``sev`` and what all its commands share: lazy loading, and errors as one line on standard error."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from sev.exceptions import BatchError, InputError, MissingDependencyError, ModelError, SevError

_COMMANDS: dict[str, tuple[str, str]] = {
    "fit": ("sev.cli._fit", "Make an explainer from a fitted model and save it."),
    "explain": ("sev.cli._explain", "Explain the rows of files of any size."),
    "reasons": ("sev.cli._reasons", "Write reason codes for each refused row."),
    "train": ("sev.cli._train", "Make a model whose decisions need fewer reasons."),
    "compare": ("sev.cli._compare", "Compare models: accuracy and how short their reasons are."),
    "report": ("sev.cli._report", "Write an HTML report about a model's decisions."),
    "demo": ("sev.cli._demo", "Train a model on the bundled loan data and explain its refusals."),
    "reproduce": ("sev.cli._reproduce", "Compute the paper's tables."),
}


class _Commands(click.Group):
    """Imports a command's module when the command is used, so that ``--help`` and completion stay quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[name][0]), name)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (InputError, ModelError) as error:
            _fail(error, 2)  # wrong use
        except (BatchError, MissingDependencyError, SevError) as error:
            _fail(error, 1)
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            sys.exit(130)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise  # click ends quietly when nobody reads on
            _fail(error, 1)


def _fail(error: Exception, status: int) -> None:
    click.echo(f"Error: {error}", err=True)
    sys.exit(status)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sev", prog_name="sev")
def main() -> None:
    """The smallest set of reasons for every decision of a tabular classifier.

    \b
    Example:
      sev fit --model loans.skops --data train.csv --label refused -o loans.sev
      sev explain loans.sev applicants.csv -o reasons.parquet

    \b
    Completion of commands and options, for bash (zsh and fish likewise):
      eval "$(_SEV_COMPLETE=bash_source sev)"
    """
