"""Data sets of the paper: one that comes with the package, four that are fetched, one that is the user's own.

Every loader returns a :class:`Dataset`, or with ``return_X_y=True`` the pair ``(X, y)``. The fetchers look for their
file in ``data_home=``, then in the folder named by the environment variable ``SEV_DATA_HOME``, then in the cache
(``~/.cache/sev`` on Linux); Adult and Diabetes 130 are otherwise downloaded from OpenML.
"""

from sev.datasets._adult import fetch_adult
from sev.datasets._compas import fetch_compas
from sev.datasets._dataset import Dataset, DatasetNotFoundError
from sev.datasets._diabetes130 import fetch_diabetes130
from sev.datasets._german_credit import load_german_credit
from sev.datasets._heloc import fetch_heloc
from sev.datasets._mimic_oasis import load_mimic_oasis

__all__ = [
    "Dataset",
    "DatasetNotFoundError",
    "fetch_adult",
    "fetch_compas",
    "fetch_diabetes130",
    "fetch_heloc",
    "load_german_credit",
    "load_mimic_oasis",
]
