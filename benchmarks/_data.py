"""The five data sets of the benchmarks as numbers, from the folder that SEV_DATA_HOME names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

NAMES = ("COMPAS", "German", "Adult", "FICO", "Diabetes")


def data_home() -> Path:
    folder = os.environ.get("SEV_DATA_HOME")
    if not folder:
        sys.exit(
            "set SEV_DATA_HOME to the folder with adult.data, compas.csv, fico.csv, german.data, diabetic_data.csv.gz"
        )
    return Path(folder)


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Raw columns and labels."""
    home = data_home()
    if name == "COMPAS":
        frame = pd.read_csv(home / "compas.csv")
        return frame.drop(columns="two_year_recid"), frame["two_year_recid"].to_numpy()
    if name == "FICO":
        frame = pd.read_csv(home / "fico.csv")
        return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
    if name == "Adult":
        frame = pd.read_csv(home / "adult.data", header=None, skipinitialspace=True, keep_default_na=False)
        return _named(frame.iloc[:, :-1]), (frame.iloc[:, -1] == ">50K").to_numpy().astype(int)
    if name == "German":
        frame = pd.read_csv(home / "german.data", header=None, sep=r"\s+")
        return _named(frame.iloc[:, :-1]), (frame.iloc[:, -1] == 2).to_numpy().astype(int)
    frame = pd.read_csv(home / "diabetic_data.csv.gz", keep_default_na=False, low_memory=False)
    labels = (frame["readmitted"] != "NO").to_numpy().astype(int)
    many_valued = ["weight", "payer_code", "medical_specialty", "diag_1", "diag_2", "diag_3"]
    drop = ["encounter_id", "patient_nbr", "readmitted", *many_valued]
    return frame.drop(columns=[column for column in drop if column in frame]), labels


def encoded(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Train and test rows with one-hot blocks, their labels, and the feature that each column belongs to."""
    frame, labels = load(name)
    blocks, feature = [], []
    for number, column in enumerate(frame.columns):
        if pd.api.types.is_numeric_dtype(frame[column].dtype):
            block = frame[[column]].to_numpy(dtype=float)
        else:
            block = pd.get_dummies(frame[column]).to_numpy(dtype=float)
        blocks.append(block)
        feature += [number] * block.shape[1]
    rows = np.hstack(blocks)
    train, test, train_labels, test_labels = train_test_split(rows, labels, test_size=0.2, random_state=seed)
    return train, test, train_labels, test_labels, np.array(feature)


def reference(train: np.ndarray, labels: np.ndarray, feature: np.ndarray, how: str) -> np.ndarray:
    """Mean or median of the negative rows, the most frequent level of one-hot blocks and two-valued columns."""
    negative = train[labels == 0]
    row = negative.mean(axis=0) if how == "mean" else np.median(negative, axis=0)
    for number in np.unique(feature):
        columns = np.flatnonzero(feature == number)
        if columns.size > 1:
            level = negative[:, columns].sum(axis=0).argmax()
            row[columns] = 0.0
            row[columns[level]] = 1.0
        elif np.unique(negative[:, columns[0]]).size <= 2:
            values, counts = np.unique(negative[:, columns[0]], return_counts=True)
            row[columns[0]] = values[counts.argmax()]
    return row


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis([f"column {number}" for number in range(frame.shape[1])], axis=1)
