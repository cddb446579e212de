"""Fitted credibility as JSON holds it, and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from sev.core import PlainObjects
from sev.credibility._isolation import FittedIsolationForest, RankedColumns
from sev.credibility._mixture import FittedGaussianMixture
from sev.credibility._neighbours import FittedNearestNeighbours
from sev.credibility._ranks import Credibility
from sev.exceptions import ArchiveError, InputError
from sev.references import Distance, NumberColumn, Points
from sev.typing import Cell, JSONValue, Parsed

_OBJECTS = PlainObjects(
    {
        cls.__name__: cls
        for cls in (
            *(FittedIsolationForest, FittedGaussianMixture, FittedNearestNeighbours),
            *(RankedColumns, Points, Distance, NumberColumn),
        )
    },
    "credibility",
)


def credibility_to_plain(credibility: Credibility, encode: Callable[[Cell], JSONValue]) -> dict[str, JSONValue]:
    """Lists, mappings and cells; ``encode`` writes a cell or a table.

    Parameters
    ----------
    credibility : Credibility
        The fitted measure.
    encode : callable
        Writes a cell or a table.

    Returns
    -------
    dict of str to object
        Ready for JSON.

    Raises
    ------
    InputError
        If it is a function of the user's own.
    """
    measure = credibility.measure
    if not isinstance(measure, FittedIsolationForest | FittedGaussianMixture | FittedNearestNeighbours):
        raise InputError(
            f"Credibility is measured by {measure.name}, which has no form that is safe to load. Save an explainer "
            "with a measure of sev.credibility, or with credibility=False."
        )
    return {
        "measure": _OBJECTS.to_plain(measure, encode),
        "ranks": _OBJECTS.to_plain(np.asarray(credibility.ranks, dtype=np.float64), encode),
    }


def credibility_from_plain(
    plain: Parsed, decode: Callable[[Parsed], Cell], example: pd.DataFrame, n_features: int
) -> Credibility:
    """Inverse of :func:`credibility_to_plain`.

    Parameters
    ----------
    plain : object
        What was written.
    decode : callable
        Reads a cell or a table.
    example : DataFrame
        A row on which it is tried: what does not fit together is found now.
    n_features : int
        Number of features.

    Returns
    -------
    Credibility
        The fitted measure.

    Raises
    ------
    ArchiveError
        If the content is damaged.
    """
    try:
        measure = _OBJECTS.from_plain(plain["measure"], decode)
        ranks = _OBJECTS.from_plain(plain["ranks"], decode)
        credibility = Credibility(measure=measure, ranks=ranks)
        encoded = measure.encode(example)
        values = measure.ordinariness(encoded)
        features = np.asarray(measure.column_feature)
        fits = features.shape == (encoded.shape[1],) and bool(((features >= 0) & (features < n_features)).all())
    except ArchiveError:
        raise
    except Exception as error:  # whatever a damaged file leads to
        raise ArchiveError(
            f"The file's credibility is damaged ({type(error).__name__}: {error}): save the explainer again."
        ) from error
    is_line = isinstance(ranks, np.ndarray) and ranks.ndim == 1 and len(ranks) > 0
    if not is_line or not fits or not (np.diff(ranks) >= 0).all():
        raise ArchiveError("The file's credibility is damaged: save the explainer again.")
    if values.shape != (len(example),) or np.isnan(values).any():
        raise ArchiveError("The file's credibility is damaged: save the explainer again.")
    return credibility
