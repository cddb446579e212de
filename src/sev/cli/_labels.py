"""``--labels`` and ``--language``: what people call features, values and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sev.cli._options import Command

if TYPE_CHECKING:
    from sev import Explainer
    from sev.text import Labels

_LABELS = click.option(
    "--labels",
    type=click.Path(),
    help="YAML file with names of features, values and decisions; default: those saved with the explainer.",
)
_LANGUAGE = click.option("--language", help="en, de or es, or a YAML file of texts; default: that of the labels.")


def label_options(command: Command) -> Command:
    """``--labels`` and ``--language``."""
    return _LABELS(_LANGUAGE(command))


def labels_for(labels: str | None, language: str | None, saved: Labels | None = None) -> Labels:
    """The labels that options name, over those that were saved."""
    from dataclasses import replace

    from sev.text import Labels

    chosen = saved or Labels() if labels is None else Labels.of(labels)
    return chosen if language is None else replace(chosen, language=language)


def load_with_labels(
    path: str, labels: str | None, language: str | None, *, trust_pickle: bool, actions: str | None = None
) -> Explainer:
    """An explainer whose labels, and actions, are those of the options."""
    import sev

    explainer = sev.load(path, trust_pickle=trust_pickle)
    if actions is not None:
        explainer = explainer.with_actions(actions)
    explainer.labels = labels_for(labels, language, explainer.labels)
    if labels is not None:
        explainer.labels.check(dict.fromkeys(explainer.feature_names), explainer.classes_)
    return explainer
