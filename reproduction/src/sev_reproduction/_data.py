"""The paper's six data sets and their random splits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sev import datasets
from sev.exceptions import InputError
from sklearn.model_selection import train_test_split

from sev_reproduction._plan import Plan

TITLES = {
    "adult": "Adult",
    "compas": "COMPAS",
    "mimic": "MIMIC-III",
    "german": "German Credit",
    "fico": "FICO",
    "diabetes": "Diabetes",
}

#: Split ``number`` has the seed ``FIRST_SEED + number``. Lower seeds were used when training settings were chosen.
FIRST_SEED = 100

NEEDS_COPY = "needs the user's own copy"

Split = tuple[pd.DataFrame, pd.DataFrame, "np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def load(name: str, plan: Plan | None = None) -> tuple[pd.DataFrame, Any]:
    """Raw columns, and labels of 0 and 1."""
    plan = plan or Plan()
    return _load(name, plan.data_home, plan.mimic)


def split(name: str, number: int, plan: Plan | None = None) -> Split:
    """Return ``X_train, X_test, y_train, y_test`` of one 80/20 stratified split; raw columns, encoded by the models."""
    plan = plan or Plan()
    X, y = load(name, plan)
    seed = FIRST_SEED + number
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    if plan.max_train_rows is not None and plan.max_train_rows < len(X_train):
        chosen = np.sort(np.random.default_rng(seed).choice(len(X_train), plan.max_train_rows, replace=False))
        X_train, y_train = X_train.iloc[chosen], y_train[chosen]
    return X_train.reset_index(drop=True), X_test.reset_index(drop=True), y_train, y_test


def sampled_rows(n_rows: int, number: int, limit: int) -> Any:
    """Places of at most ``limit`` test rows to explain models on: for one limit the same for every model of a split."""
    if n_rows <= limit:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(FIRST_SEED + number).choice(n_rows, limit, replace=False))


@lru_cache(maxsize=1)
def _load(name: str, data_home: str | None, mimic: str | None) -> tuple[pd.DataFrame, Any]:
    found = _found(name, data_home, mimic)
    return found.X, found.y.to_numpy()


def _found(name: str, data_home: str | None, mimic: str | None) -> datasets.Dataset:
    if name == "mimic":
        if mimic is None:
            raise InputError(f"MIMIC-III {NEEDS_COPY}: pass the file with --mimic.")
        return datasets.load_mimic_oasis(mimic)
    if name == "german":
        return datasets.load_german_credit()
    if name == "adult":
        return datasets.fetch_adult(data_home=data_home)
    if name == "compas":
        return datasets.fetch_compas(data_home=data_home)
    if name == "fico":
        return datasets.fetch_heloc(data_home=data_home)
    return datasets.fetch_diabetes130(data_home=data_home)
