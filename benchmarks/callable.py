"""Any callable: the naive search, one prediction a vertex, against ours on the same German Credit queries."""

import json
import time
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev

QUERIES = 25


def naive(score, query: pd.Series, reference: pd.Series, kind: str) -> tuple[int, set]:
    """Breadth first, one call of the model for each vertex."""
    base, donor = (query, reference) if kind == "minus" else (reference, query)
    columns = [column for column in query.index if query[column] != reference[column]]
    for size in range(1, len(columns) + 1):
        found = set()
        for chosen in combinations(columns, size):
            row = base.copy()
            row[list(chosen)] = donor[list(chosen)]
            positive = score(row.to_frame().T)[0] >= 0.5
            if positive == (kind == "plus"):
                found.add(chosen)
        if found:
            return size, found
    return 0, set()


def main() -> None:
    data = sev.datasets.load_german_credit()
    text = make_column_selector(dtype_exclude="number")
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), text),
            (StandardScaler(), make_column_selector(dtype_include="number")),
        ),
        LogisticRegression(max_iter=1000),
    ).fit(data.X, data.y)

    def score(frame: pd.DataFrame) -> np.ndarray:
        return model.predict_proba(frame)[:, 1]

    explainer = sev.Explainer(score, data.X, data.y)  # a bare callable: nothing of the pipeline can be seen
    refused = data.X[score(data.X) >= 0.5].iloc[:QUERIES]
    results = []
    for kind in ("minus", "plus"):
        queries = refused if kind == "minus" else refused.iloc[: QUERIES // 5]
        start = time.perf_counter()
        many = explainer.explain(queries, kind=kind)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        answers = [naive(score, one.query, one.reference, kind) for one in many]
        theirs = time.perf_counter() - start
        for one, (size, sets) in zip(many, answers, strict=True):
            assert one.size == size
            assert {frozenset(names) for names in one.sets} == {frozenset(names) for names in sets}
        results.append(
            {"kind": kind, "queries": len(queries), "naive_s": theirs, "ours_s": ours, "ratio": theirs / ours}
        )
        print(
            f"SEV{'-' if kind == 'minus' else '+'}: {len(queries)} queries, naive {theirs:.2f} s, ours {ours:.3f} s: "
            f"{theirs / ours:.0f} times"
        )
    print(json.dumps(results))


if __name__ == "__main__":
    main()
