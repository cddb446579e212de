"""The same refused applicants, explained by sev, SHAP, LIME and DiCE: seconds, features changed, and whether it holds.

For SHAP and LIME the features are set to the reference in the order of their importance until the prediction flips
(the paper's SHAP-C and LIME-C); for DiCE the changed features of its counterfactual are counted. One logistic
regression on raw German Credit columns.
"""

import json
import time
import warnings

import numpy as np
import pandas as pd

import sev
from sev.demo import train

QUERIES = 12


def flips(score, query: pd.Series, reference: pd.Series, order: list[str]) -> int | None:
    """Features changed, in the given order, until the row is no longer predicted positive."""
    row = query.copy()
    for changed, name in enumerate(order, start=1):
        row[name] = reference[name]
        if score(row.to_frame().T)[0] < 0.5:
            return changed
    return None


class Coded:
    """Rows as numbers for packages that cannot take text: each text column by the position of its value."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self.text = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c].dtype)]
        self.values = {c: sorted(frame[c].unique()) for c in self.text}

    def encode(self, frame: pd.DataFrame) -> np.ndarray:
        coded = frame.copy()
        for column in self.text:
            coded[column] = [self.values[column].index(value) for value in frame[column]]
        return coded.to_numpy(dtype=float)

    def decode(self, rows: np.ndarray) -> pd.DataFrame:
        frame = pd.DataFrame(np.atleast_2d(rows), columns=self.frame.columns)
        for column in self.text:
            frame[column] = [self.values[column][int(code)] for code in frame[column]]
        return frame


def by_shap(model, coded, queries, reference):
    import shap

    def score(rows):
        return model.predict_proba(coded.decode(rows))[:, 1]

    explainer = shap.KernelExplainer(score, coded.encode(reference.to_frame().T))
    for _, query in queries.iterrows():
        start = time.perf_counter()
        values = explainer.shap_values(coded.encode(query.to_frame().T), silent=True)[0]
        yield time.perf_counter() - start, list(queries.columns[np.argsort(-values)])


def by_lime(model, coded, queries, reference, background):
    from lime.lime_tabular import LimeTabularExplainer

    columns = list(queries.columns)
    explainer = LimeTabularExplainer(
        coded.encode(background),
        feature_names=columns,
        categorical_features=[columns.index(c) for c in coded.text],
        discretize_continuous=False,
        random_state=0,
    )
    for _, query in queries.iterrows():
        start = time.perf_counter()
        row = coded.encode(query.to_frame().T)[0]
        weights = dict(
            explainer.explain_instance(
                row, lambda rows: model.predict_proba(coded.decode(rows)), num_features=len(columns)
            ).local_exp[1]
        )
        seconds = time.perf_counter() - start
        gap = row - coded.encode(reference.to_frame().T)[0]
        # LIME's weight of a category is for having it, that of a number for each unit
        gain = [weights.get(n, 0.0) * (1.0 if c in coded.text else gap[n]) for n, c in enumerate(columns)]
        yield seconds, [columns[n] for n in np.argsort(-np.array(gain))]


def by_dice(model, queries, background, labels):
    import dice_ml

    table = background.assign(risk=labels)
    numeric = [c for c in background.columns if pd.api.types.is_numeric_dtype(background[c].dtype)]
    data = dice_ml.Data(dataframe=table, continuous_features=numeric, outcome_name="risk")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")
    for _, query in queries.iterrows():
        start = time.perf_counter()
        found = explainer.generate_counterfactuals(
            query.to_frame().T.astype(background.dtypes), total_CFs=1, desired_class=0, random_seed=0, verbose=False
        )
        seconds = time.perf_counter() - start
        after = found.cf_examples_list[0].final_cfs_df
        changed = None if after is None else sum(str(after.iloc[0][c]) != str(query[c]) for c in queries.columns)
        yield seconds, changed


def main() -> None:
    warnings.simplefilter("ignore")  # of the peers, about their own dependencies
    model, X_train, X_test, y_train, _ = train()
    explainer = sev.Explainer(model, X_train, y_train)
    queries = X_test[model.predict_proba(X_test)[:, 1] >= 0.5].iloc[:QUERIES]
    explainer.explain(queries).to_frame()  # compiled kernels are loaded
    reference = explainer.reference.iloc[0]
    coded = Coded(pd.concat([X_train, X_test, reference.to_frame().T]).infer_objects())

    def score(frame):
        return model.predict_proba(frame)[:, 1]

    results: dict[str, list[tuple[float, int | None]]] = {"sev": []}
    for _, query in queries.iterrows():
        start = time.perf_counter()
        one = explainer.explain_one(query)
        results["sev"].append((time.perf_counter() - start, one.size))
    start = time.perf_counter()
    many = explainer.explain(X_test)
    batch = (time.perf_counter() - start) / int((many.sizes >= 1).sum())
    for name, answers in {
        "SHAP (kernel)": by_shap(model, coded, queries, reference),
        "LIME": by_lime(model, coded, queries, reference, X_train),
    }.items():
        results[name] = [
            (seconds, flips(score, query, reference, order))
            for (seconds, order), (_, query) in zip(answers, queries.iterrows(), strict=True)
        ]
    results["DiCE (random)"] = list(by_dice(model, queries, X_train, y_train))
    results["sev, in batch"] = [(batch, size) for _, size in results["sev"]]
    print(f"{QUERIES} refused applicants")
    base = np.median([seconds for seconds, _ in results["sev"]])
    table = {}
    for name, answers in results.items():
        changed = [size for _, size in answers if size is not None]
        table[name] = {
            "median_ms": 1e3 * float(np.median([seconds for seconds, _ in answers])),
            "times_sev": float(np.median([seconds for seconds, _ in answers]) / base),
            "mean_features": float(np.mean(changed)),
            "unflipped": len(answers) - len(changed),
        }
        line = table[name]
        print(
            f"{name:15s} {line['median_ms']:9.2f} ms {line['times_sev']:7.1f} x   "
            f"{line['mean_features']:.2f} features changed, {line['unflipped']} not flipped"
        )
    print(json.dumps(table))


if __name__ == "__main__":
    main()
