"""What every loader returns."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from sev.exceptions import SevError


class DatasetNotFoundError(SevError, FileNotFoundError):
    """A data file that was not found and cannot be downloaded without the user's help."""


@dataclass(frozen=True, kw_only=True, eq=False, slots=True, repr=False)
class Dataset:
    """A table with a 0/1 label, and where it comes from.

    Attributes
    ----------
    name : str
        Short name, such as ``"german_credit"``.
    X : pandas.DataFrame of shape (n_rows, n_features)
        Raw columns: numbers as numbers, categories as readable text.
    y : pandas.Series of shape (n_rows,)
        The label, 0 or 1, named.
    target_names : tuple of str
        What 0 and what 1 mean.
    labels : mapping of str to str
        For each column of ``X``, a name to show to people.
    description : str
        What a row is, what was done to the published data, what to watch for.
    source : str
        Authors, year and address.
    licence : str
        The terms under which the data may be used.

    Examples
    --------
    >>> from sev.datasets import load_german_credit
    >>> load_german_credit()
    <Dataset german_credit: 1,000 rows, 20 features, 30.0 % bad credit risk>
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    target_names: tuple[str, str]
    labels: Mapping[str, str]
    description: str
    source: str
    licence: str

    def __repr__(self) -> str:
        rows, features = self.X.shape
        share = 100 * self.y.mean()
        return f"<Dataset {self.name}: {rows:,} rows, {features} features, {share:.1f} % {self.target_names[1]}>"
