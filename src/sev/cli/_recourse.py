"""``sev alone``, ``sev price`` and ``sev menu``: what a person could do about a decision."""

from __future__ import annotations

import json
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from sev.cli._labels import label_options, load_with_labels
from sev.cli._options import Command, actions, choice, comma_list, common, restricted, trust_pickle
from sev.cli._output import plain_result, say
from sev.cli._tables import chosen_row, rows_of_table
from sev.typing import Values

if TYPE_CHECKING:
    from collections.abc import Callable

    from sev import Explainer
    from sev.text import Speaker


_ROW_HELP = "The row: its place in DATA, the first being 0; with --id, its entry in that column."


def _table_arguments(command: Command) -> Command:
    """``EXPLAINER DATA --id``."""
    for option in (
        click.option("--id", "id_column", help="Column that names the rows, such as an application's number."),
        click.argument("data", type=click.Path()),
        click.argument("explainer", type=click.Path(exists=True, dir_okay=False)),
    ):
        command = option(command)
    return command


def _with_explainer(values: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options behind the questions of a command, which gets the explainer with its labels and actions in force.

    Parameters
    ----------
    values : str
        Default of ``--values``.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def load_and_run(
            explainer: str,
            labels: str | None,
            language: str | None,
            trust_pickle: bool,
            actions: str | None,
            **options: Any,
        ) -> None:
            loaded = load_with_labels(explainer, labels, language, trust_pickle=trust_pickle, actions=actions)
            command(loaded, **options)

        limited: Callable[..., None] = load_and_run
        may_become = choice("--values", Values, "What features may become within the actions.", values)
        for option in (common, trust_pickle, label_options, actions, may_become):
            limited = option(limited)
        return limited

    return decorate


@click.command()
@_table_arguments
@click.option("--row", help=f"{_ROW_HELP} Default: all rows.")
@_with_explainer("any")
def alone(
    loaded: Explainer,
    data: str,
    id_column: str | None,
    row: str | None,
    values: Values,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show which single features could change the decisions on the rows of DATA, and with which share of their values.

    A reason that a person cannot act on misleads. Rows that are not of the class being explained are left out.

    \b
    Example:
      sev alone loans.sev applicants.csv --id number --row A0003 --actions actions.yaml
    """
    if row is None:
        rows, _ = rows_of_table(loaded, data, id_column)
    else:
        rows = chosen_row(loaded, data, id_column, row)
    found = loaded.alone(rows, values=values)
    if not len(found):
        say("no row is of the class being explained: there is nothing to undo", quiet)
    shown = found.reset_index()
    if not as_json:
        speaker = _speaker_of(loaded)
        shown["feature"] = [speaker.label(name) for name in shown["feature"]]
        shown["share"] = [_tell_share(speaker, share) for share in shown["share"]]
        shown["works"] = [_yes_or_no(speaker, works) for works in shown["works"]]
    _write_lines(shown, as_json)


@click.command()
@_table_arguments
@click.option("--row", required=True, help=_ROW_HELP)
@click.option("--locks", required=True, callback=comma_list, help="Features to lock: a,b.")
@_with_explainer("any")
def price(
    loaded: Explainer,
    data: str,
    id_column: str | None,
    row: str,
    locks: tuple[str, ...],
    values: Values,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show how many more features of one row of DATA must change where some are locked.

    \b
    Example:
      sev price loans.sev applicants.csv --row 3 --locks age,sex --values any
    """
    found = loaded.price(chosen_row(loaded, data, id_column, row), locks, values=values)
    shown = found.reset_index()
    if not as_json:
        speaker = _speaker_of(loaded)
        known = set(loaded.feature_names)
        shown["lock"] = [speaker.label(lock) if lock in known else speaker.text("lock_all") for lock in shown["lock"]]
        shown["outcome"] = [_tell_outcome(speaker, outcome) for outcome in shown["outcome"]]
        shown["proven"] = [_yes_or_no(speaker, proven) for proven in shown["proven"]]
        for name in ("size_without", "size_with"):
            shown[name] = ["" if pd.isna(size) else f"{size:.0f}" for size in shown[name]]
        shown = _round_costs(shown, "cost_without", "cost_with")
    _write_lines(shown, as_json)


@click.command()
@_table_arguments
@click.option("--row", required=True, help=_ROW_HELP)
@click.option("--max-size", type=click.IntRange(1), default=2, show_default=True, help="Most features in a set.")
@click.option("--all", "every", is_flag=True, help="List all sets, not only those that work.")
@restricted
@_with_explainer("any")
def menu(
    loaded: Explainer,
    data: str,
    id_column: str | None,
    row: str,
    max_size: int,
    every: bool,
    values: Values,
    restricted: tuple[str, ...] | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """List the sets of features of one row of DATA that could change the decision, with the least change of each.

    Sets that contain a smaller one that works are left out.

    \b
    Example:
      sev menu loans.sev applicants.csv --row 3 --actions actions.yaml --max-size 2
    """
    from sev.explanations import Interval
    from sev.text import menu_table

    found = loaded.menu(chosen_row(loaded, data, id_column, row), max_size, values=values, restricted=restricted)
    found = found.sort_values(["size", "cost"], kind="stable")
    shown = found if every else found[found["outcome"] == "works"]
    if as_json:
        enough = [
            {name: [one.low, one.high] if isinstance(one, Interval) else list(one) for name, one in line.items()}
            for line in shown["enough"]
        ]
        _write_lines(shown.assign(enough=enough), as_json)
    else:
        bound = loaded.tasks[0].bound  # None in files of older versions
        limits = {} if bound is None else bound.limits()
        _write_lines(_round_costs(menu_table(shown, loaded.labels, limits)), as_json)
    if len(shown) < len(found):
        counts = found["outcome"].value_counts()
        stuck, open_sets = (int(counts.get(name, 0)) for name in ("cannot work", "not decided"))
        parts = [f"{stuck:,} cannot work"] * (stuck > 0) + [f"{open_sets:,} are not decided"] * (open_sets > 0)
        say(f"Of the other sets of up to {max_size}, {' and '.join(parts)}; --all lists them", quiet)


def _speaker_of(explainer: Explainer) -> Speaker:
    """The explainer's names of features, in its language."""
    from sev.text import Speaker

    return Speaker({feature.name: feature.columns for feature in explainer.space.features}, labels=explainer.labels)


def _tell_share(speaker: Speaker, share: float) -> str:
    """A share in whole percent; one that is not 0 never reads as none, nor one below 1 as all."""
    if 0.0 < share < 0.01:
        return f"<{speaker.percent(0.01)}"
    return f">{speaker.percent(0.99)}" if 0.99 < share < 1.0 else speaker.percent(round(share, 2))


def _tell_outcome(speaker: Speaker, outcome: str) -> str:
    """What a lock costs, in words: "free", "costlier", "1 more", "impossible" or "not decided"."""
    if outcome.endswith(" more"):
        return speaker.text("lock_more", value=outcome.removesuffix(" more"))
    return speaker.text("menu_not_decided" if outcome == "not decided" else f"lock_{outcome}")


def _yes_or_no(speaker: Speaker, value: bool) -> str:
    return str(speaker.text("yes_text" if value else "no_text"))


def _round_costs(shown: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The table with costs of three figures."""
    texts = {name: ["" if pd.isna(cost) else f"{cost:.3g}" for cost in shown[name]] for name in names or ("cost",)}
    return shown.assign(**texts)


def _write_lines(shown: pd.DataFrame, as_json: bool) -> None:
    """A table without its index: one JSON object a line, or aligned columns."""
    if not as_json:
        click.echo(shown.to_string(index=False, na_rep="") if len(shown) else "nothing to show")
        return
    for line in shown.to_dict("records"):
        click.echo(json.dumps(plain_result(line), ensure_ascii=False))
