"""Generated mortgage applications: mixed types, about an eighth refused, ratios that go together."""

from __future__ import annotations

import numpy as np
import pandas as pd


def mortgages(n_rows: int = 1400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Applications and whether they were refused: strain shows in several columns, so refusals have several reasons."""
    rng = np.random.default_rng(seed)
    strain = rng.gamma(1.2, 0.8, n_rows)
    housing = np.clip(0.2 + 0.05 * strain + rng.normal(0.0, 0.05, n_rows), 0.02, 2.0)
    debt = housing + 0.05 + 0.04 * strain + np.abs(rng.normal(0.0, 0.03, n_rows))
    value = np.clip(rng.normal(0.7, 0.15, n_rows) + 0.05 * strain, 0.05, 1.6)
    consumer = np.clip(np.round(1.0 + strain + rng.normal(0.0, 0.8, n_rows)), 1, 6).astype(int)
    mortgage = np.clip(np.round(1.5 + 0.4 * strain + rng.normal(0.0, 0.5, n_rows)), 1, 4).astype(int)
    record = rng.random(n_rows) < np.clip(0.02 + 0.08 * strain, 0.0, 0.9)
    insurance = rng.random(n_rows) < np.clip(0.003 * (1.0 + strain**2), 0.0, 0.5)
    single = rng.random(n_rows) < 0.4
    score = 5 * debt + 1.5 * value + 0.35 * consumer + 0.3 * mortgage + record + 3 * insurance + 0.4 * single - 5.8
    refused = rng.random(n_rows) < 1.0 / (1.0 + np.exp(0.9 - 1.3 * score))
    frame = pd.DataFrame(
        {
            "debt_to_income": debt.round(3),
            "housing_to_income": housing.round(3),
            "loan_to_value": value.round(3),
            "consumer_credit": consumer,
            "mortgage_credit": mortgage,
            "public_record": np.where(record, "yes", "no"),
            "insurance_denied": np.where(insurance, "yes", "no"),
            "single": np.where(single, "yes", "no"),
        }
    )
    return frame, refused.astype(int)
