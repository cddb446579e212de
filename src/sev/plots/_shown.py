"""What pictures need of the results that they draw: results import the pictures, never the other way round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sev.core import Status
from sev.exceptions import InputError
from sev.text import Labels, Language, NotPermitted, ProofScope, Range, Speaker
from sev.typing import Cell, ClassLabel, ColumnLabel, FloatArray, Kind

#: What a caller may choose as the language of a picture; None is that of the labels.
ChosenLanguage: TypeAlias = str | Path | Language | None


class ShownExplanation(Protocol):
    """One explanation, as :class:`sev.Explanation` is."""

    @property
    def kind(self) -> Kind: ...
    @property
    def status(self) -> Status: ...
    @property
    def size(self) -> int | None: ...
    @property
    def lower_bound(self) -> int: ...
    @property
    def features(self) -> tuple[str, ...]: ...
    @property
    def sets(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def sets_complete(self) -> bool: ...
    @property
    def query(self) -> pd.Series: ...
    @property
    def reference(self) -> pd.Series: ...
    @property
    def score(self) -> float: ...
    @property
    def result_score(self) -> float | None: ...
    @property
    def threshold(self) -> float: ...
    @property
    def target(self) -> ClassLabel: ...
    @property
    def restricted(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> Mapping[str, tuple[ColumnLabel, ...]]: ...
    @property
    def reason(self) -> str: ...
    @property
    def labels(self) -> Labels: ...
    @property
    def not_permitted(self) -> NotPermitted: ...
    @property
    def values(self) -> str: ...
    @property
    def minimise(self) -> str: ...
    @property
    def credibility(self) -> float | None: ...
    @property
    def proof_scope(self) -> ProofScope: ...
    @property
    def differing_features(self) -> tuple[str, ...]: ...
    @property
    def limits(self) -> Mapping[str, tuple[float, float]]: ...
    def donor_of(self, number: int) -> pd.Series: ...
    def enough_of(self, number: int) -> Mapping[str, Range | Iterable[Cell]]: ...
    def background(self) -> pd.DataFrame | None: ...
    def main_features(self, at_most: int) -> tuple[str, ...]: ...
    def vertices(self, features: Iterable[str] | None = None, *, explainer: Any = None) -> pd.DataFrame: ...
    def path_scores(self, features: Iterable[str] | None = None, *, explainer: Any = None) -> pd.DataFrame: ...


class ShownExplanations(Protocol):
    """Many explanations, as :class:`sev.Explanations` are."""

    @property
    def kind(self) -> Kind: ...
    @property
    def restricted(self) -> tuple[str, ...]: ...
    @property
    def sizes(self) -> FloatArray: ...
    @property
    def statuses(self) -> NDArray[np.str_]: ...
    @property
    def scores(self) -> FloatArray: ...
    @property
    def index(self) -> pd.Index: ...
    @property
    def queries(self) -> pd.DataFrame: ...
    @property
    def references(self) -> pd.DataFrame: ...
    @property
    def thresholds(self) -> tuple[float, ...]: ...
    @property
    def targets(self) -> tuple[ClassLabel, ...]: ...
    @property
    def feature_names(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> Mapping[str, tuple[ColumnLabel, ...]]: ...
    @property
    def labels(self) -> Labels: ...
    def __len__(self) -> int: ...
    def mean_size(self) -> float: ...
    def feature_shares(self, sets: Literal["first", "any"] = "first") -> pd.Series: ...
    def feature_pairs(self) -> pd.DataFrame: ...


def check_one(shown: object, plot: str) -> None:
    """Refuse what is not one explanation."""
    if not hasattr(shown, "donor_of"):
        raise InputError(
            f"plots.{plot} draws one explanation, got {type(shown).__name__}: pass one, as explain(X)[0] is."
        )


def check_many(shown: object, plot: str) -> None:
    """Refuse what is not explanations of many rows."""
    if not hasattr(shown, "feature_shares"):
        raise InputError(
            f"plots.{plot} draws explanations of many rows, got {type(shown).__name__}: pass what explainer.explain(X) "
            "returned."
        )


def check_table(table: object, plot: str) -> None:
    """Refuse what is not a table."""
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"plots.{plot} draws a table, got {type(table).__name__}: pass a DataFrame.")


def models_of(
    explanations: ShownExplanations | Mapping[str, ShownExplanations], plot: str
) -> Mapping[str, ShownExplanations]:
    """Explanations of several models by name; those of one model have no name."""
    models = explanations if isinstance(explanations, Mapping) else {"": explanations}
    if not models:
        raise InputError(f"plots.{plot} has nothing to draw: pass what explainer.explain(X) returned.")
    for one in models.values():
        check_many(one, plot)
    return models


def speaker_of(shown: ShownExplanation | ShownExplanations, language: ChosenLanguage = None) -> Speaker:
    """The names of features, values and decisions that the results' own labels give them, and the texts of a language.

    Parameters
    ----------
    shown : Explanation or Explanations
        What is drawn.
    language : str, path or mapping, default=None
        None is the language of the labels.
    """
    return Speaker(shown.columns, language=language, labels=shown.labels)


def credibility_text(explanation: ShownExplanation, speaker: Speaker) -> str:
    """How ordinary the result of the first set is, where that is known."""
    share = explanation.credibility
    if share is None:
        return ""
    name = "plot_credibility" if len(explanation.sets) == 1 else "plot_credibility_first"
    return speaker.text(name, share=speaker.percent(share, ".0f"))


def join_notes(*notes: str) -> str:
    """The parts of a line under a title, without those that are empty."""
    return "; ".join(note for note in notes if note)


def share_text(share: float, speaker: Speaker) -> str:
    """A share in whole percent; small ones are told apart from none."""
    if 0 < share < 0.01:
        return f"<{speaker.percent(0.01, '.0f')}"
    return speaker.percent(share, ".0f")
