"""Messages of the Python interface in the words of the command line: options instead of arguments."""

from __future__ import annotations

import re

import click

#: Arguments that have another name on the command line.
_OTHER_NAMES = {"n_jobs": "jobs", "allow_pickle": "trust_pickle", "id_column": "id", "metric": "metrics"}
#: What a message may hold besides arguments, and what a user of commands would write for it.
_PHRASES = (
    (re.compile(r"call model\.fit\(X_train, y_train\) first"), "fit it before you save it"),
    (
        re.compile(r"\b([Pp])ass a function\b"),
        lambda found: f"{'I' if found[1] == 'P' else 'i'}n Python, pass a function",
    ),
    (re.compile(r" or a function scorer\(model, X, y\) that returns a number"), ""),
    (re.compile(r"; for a torch module use sev\.losses"), ""),
    (re.compile(r", or pass groups= of columns that belong together"), ""),
    (re.compile(r"lower learning_rate \([^()]*\), or look"), "look"),
    (re.compile(r"\by_train\b"), "the column of labels"),
    (re.compile(r"\bX_train\b"), "the table of --data"),
    (re.compile(r"\bcredibility=False\b"), "--credibility none"),
    (re.compile(r"\b(?:sev\.)?between\(([^()]*)\)"), r"{between: [\1]}"),
    (re.compile(r"\('([-+][^']*)', '([-+][^']*)'\)"), r'["\1", "\2"]'),
    (re.compile(r"\buse None\b"), "use null"),
    (re.compile(r"\bClusters\(n=(\w+)\)"), r"clusters:\1"),
    (re.compile(r"\bNearest\(k=(-?\d+)\)"), r"nearest:\1"),
    (re.compile(r"\bNearest\(k=\.\.\.\)"), "nearest:3"),
    (re.compile(r"\bBy\('([^']*)'(?:, [^()]*)?\)"), r"by:\1"),
    (re.compile(r'Clusters\(centre="medoid"\) or Nearest\(\)'), "--reference nearest"),
    (re.compile(r'Clusters\(centre="medoid"\)'), "--reference nearest"),
    (re.compile(r"\b(?:sev\.references\.)?(Clusters|Nearest)\(\)"), lambda found: found[1].lower()),
    (re.compile(r"\bBest\((?:\.\.\.)?\)"), "best:..."),
    (re.compile(r",? or an object of sev\.references"), ""),
)
_VALUE = r"""("[^"]*"|'[^']*'|\[[^\]]*\]|[\w+-][\w.+-]*\w|\w)?"""
_REPEATED = re.compile(r" \((?:on the command line: )?(--[\w-]+)(?: on the command line)?\)")


def words_of_options(message: str, context: click.Context) -> str:
    """A message with the options of the command that is running in place of arguments: ``--target no`` for
    ``target='no'``.

    Parameters
    ----------
    message : str
        Of an error or a warning of the Python interface.
    context : click.Context
        Of ``sev``, or of one of its commands.

    Returns
    -------
    str
        The message; what is not an option of the command stays as it is.
    """
    for pattern, words in _PHRASES:
        message = pattern.sub(words, message)
    for name, option in _find_options(context).items():
        message = message.replace(f"`{name}`", option)
        message = re.sub(rf"(?<![\w.-]){name}={_VALUE}", lambda found, to=option: _name_option(to, found[1]), message)  # type: ignore[misc]
    return _REPEATED.sub(lambda found: "" if message.count(found[1]) > 1 else found[0], message)


def _name_option(option: str, value: str | None) -> str:
    if value is None or value == "True":
        return option
    return f"{option} {value.strip(chr(34) + chr(39))}"


def _find_options(context: click.Context) -> dict[str, str]:
    """The options of the command that is running, by the names of the arguments that they become."""
    command = context.command
    if isinstance(command, click.Group):
        command = command.get_command(context, context.invoked_subcommand or "") or command
    options = {
        str(parameter.name): max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }
    return options | {name: options[other] for name, other in _OTHER_NAMES.items() if other in options}
