"""The command ``sev`` and what all its commands share: lazy loading, and errors as one line on standard error."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from sev.cli._errors import debug, plain_warnings, report_error

_COMMANDS: dict[str, tuple[str, str]] = {
    "fit": ("sev.cli._fit", "Make an explainer from a fitted model and save it."),
    "explain": ("sev.cli._explain", "Explain the rows of files of any size."),
    "reasons": ("sev.cli._reasons", "Write reason codes for each refused row."),
    "suggest-actions": ("sev.cli._suggest_actions", "Propose a file of actions from a table, for a person to review."),
    "alone": ("sev.cli._recourse", "Which single features could change a decision."),
    "price": ("sev.cli._recourse", "How many more features must change where some are locked."),
    "menu": ("sev.cli._recourse", "Every set of features that could change one decision."),
    "train": ("sev.cli._train", "Tune a model so that its decisions need fewer reasons."),
    "compare": ("sev.cli._compare", "Compare models: accuracy and how short their reasons are."),
    "report": ("sev.cli._report", "Write an HTML report about a model's decisions."),
    "app": ("sev.cli._app", "Open a page on which decisions can be looked at and edited."),
    "serve": ("sev.cli._app", "Serve the JSON interface of the page, without the page."),
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
        command: click.Command = getattr(import_module(_COMMANDS[name][0]), name.replace("-", "_"))
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def invoke(self, context: click.Context) -> object:
        with plain_warnings(context):
            try:
                return super().invoke(context)
            except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
                raise  # click has its own ways to end, quietly when nobody reads on
            except KeyboardInterrupt:
                click.echo("Stopped.", err=True)
                sys.exit(130)
            except Exception as error:  # no traceback for a user, whatever a file or a model made of another library do
                sys.exit(report_error(error, context))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@debug
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
