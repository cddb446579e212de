"""What an explainer is made of, without anything that can be worked out again from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from sev.actions import Actions, Ground
from sev.credibility import LazyCredibility
from sev.references import FittedReference
from sev.space import FeatureSpace, TableForm
from sev.text import Labels
from sev.typing import ClassLabel, FittedModel


@dataclass(frozen=True, eq=False)
class TargetParts:
    """One class being explained.

    Parameters
    ----------
    target : object
        The class.
    threshold : float
        Scores of at least this are predicted as the class.
    leads : bool
        Whether the score is the lead over the best other class.
    reference : FittedReference
        What features are changed to.
    ground : Ground or None
        What is known of the background; None in files of older versions.
    credibility : LazyCredibility or None
        How ordinary rows are; None where that is not known.
    """

    target: ClassLabel | None
    threshold: float
    leads: bool
    reference: FittedReference
    ground: Ground | None = None
    credibility: LazyCredibility | None = None


@dataclass(frozen=True, eq=False)
class ExplainerParts:
    """Enough to build the same explainer again, in another process or at another time.

    Parameters
    ----------
    model : object
        The fitted model.
    form, space : TableForm, FeatureSpace
        What rows look like and which columns move together.
    restricted : tuple of str
        Features that no explanation may use.
    sample : DataFrame
        Background rows on which the reading of the model is proven each time the explainer is built.
    targets : tuple of TargetParts
        The classes being explained.
    backend, backend_reason : str
        How the model was read when the parts were taken, and why it was not read in another way.
    n_background, background_hash : int and str, or None
        Number and hash of the background rows that the explainer was made from, for records.
    labels : Labels
        Names for people.
    actions : Actions or None
        What features may become.
    classes : tuple
        The classes of the model, which a booster's own file does not name; empty in files of older versions.
    """

    model: FittedModel
    form: TableForm
    space: FeatureSpace
    restricted: tuple[str, ...]
    sample: pd.DataFrame
    targets: tuple[TargetParts, ...]
    backend: str
    backend_reason: str = ""
    n_background: int | None = None
    background_hash: str | None = None
    labels: Labels = field(default_factory=Labels)
    actions: Actions | None = None
    classes: tuple[ClassLabel, ...] = ()
