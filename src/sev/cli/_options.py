"""Options that several commands have."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Protocol, TypeVar, get_args

import click
import numpy as np

from sev.cli._errors import debug
from sev.typing import Kind, Minimise, Order, Values

#: A command under construction, as click has it: a function, or a command made of one.
Command = TypeVar("Command", bound=Callable[..., object])


class Decorator(Protocol):
    """Adds options to a command."""

    def __call__(self, command: Command, /) -> Command:
        """The same command, with the options."""
        ...


def comma_list(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """``a,b`` as names; a comma inside a name is written ``\\,``."""
    if value is None:
        return None
    names = value.replace("\\,", "\0").split(",")
    return tuple(name.replace("\0", ",").strip() for name in names if name.strip())


def typed(text: str | None) -> bool | int | float | str | None:
    """A class given on the command line: a number or a boolean if it looks like one."""
    if text is None:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _read_seed(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    if value is not None:
        random.seed(value)
        np.random.seed(value)  # noqa: NPY002  models of other libraries draw from here
    return value


def common(command: Command) -> Command:
    """``--json``, ``--quiet``, ``--seed`` and ``--debug``."""
    wanted = "seed" in inspect.signature(command).parameters
    for option in (
        debug,
        click.option("--seed", type=int, callback=_read_seed, expose_value=wanted, help="Seed of all random steps."),
        click.option("--quiet", "-q", is_flag=True, help="No progress and no messages but errors."),
        click.option("--json", "as_json", is_flag=True, help="JSON instead of a table on standard output."),
    ):
        command = option(command)
    return command


def table_options(command: Command) -> Command:
    """How a table of training or test rows is read."""
    for option in (
        click.option("--numbers", callback=comma_list, help="Columns to read as numbers, if unclear: a,b."),
        click.option("--text", callback=comma_list, help="Columns to read as text, even if all numbers: a,b."),
        click.option("--label", required=True, help="The column of labels."),
        click.option(
            "--data", required=True, type=click.Path(), help="Table of rows with labels; - is standard input (CSV)."
        ),
    ):
        command = option(command)
    return command


def choice(name: str, words: object, text: str, default: str | None = None) -> Decorator:
    """An option that is one of the words of a type of ``sev.typing``; the default is the first."""
    known = get_args(words)
    return click.option(name, type=click.Choice(known), default=default or known[0], show_default=True, help=text)


trust_pickle = click.option(
    "--trust-pickle", is_flag=True, help="Load pickled models, which run whatever code is in them."
)
restricted = click.option("--restricted", callback=comma_list, help="Features that no explanation may use: a,b.")
actions = click.option(
    "--actions", type=click.Path(), help="YAML file of what features may become; sev suggest-actions proposes one."
)
_VALUES = choice(
    "--values",
    Values,
    "What features may become, within the actions. reference: the reference's values; typical: numbers near them; any: "
    "every value that occurs.",
)
_MINIMISE = choice(
    "--minimise", Minimise, "features: the fewest, and of these the least costly; cost: the least total cost."
)


def change_options(command: Command) -> Command:
    """``--actions``, ``--values`` and ``--minimise``: which changes an explanation may make."""
    return actions(_VALUES(_MINIMISE(command)))


_ORDER = choice(
    "--order",
    Order,
    "Which of the smallest sets comes first: score furthest across the threshold, smallest change, or most credible "
    "result.",
)
_MIN_CREDIBILITY = click.option(
    "--min-credibility",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Least credibility, from 0 to 1: the share of real rows of the other class that are less ordinary.",
)


def choice_options(command: Command) -> Command:
    """``--order`` and ``--min-credibility``: which sets count, and which comes first."""
    return _ORDER(_MIN_CREDIBILITY(command))


kind = choice(
    "--kind",
    Kind,
    "minus (SEV-): the fewest changes that undo the decision; plus (SEV+): the fewest features that bring it about.",
)
