"""Why some figures differ: what may have been different in the paper's runs, tested one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import _authors, _conditions, _models, _reweight
from sev_reproduction._compare import FIGURES, differs, why_none
from sev_reproduction._data import FIRST_SEED, TITLES, split
from sev_reproduction._models import BASELINES, BY_NAME
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section, Table, number
from sev_reproduction._task import Results, Task

NAME = "causes"
TITLE = "Causes of differences, tested"
NEEDS_QUERIES = False

_DATA = ("adult", "compas", "german", "fico")
#: Splits that are tested; German Credit is small, so its figures vary most.
_SPLITS = {"german": 10}
_FEW = 3

NOT_MET = "none of the conditions"

_SHOWN = ("train_accuracy", "train_auc", "test_accuracy", "test_auc", "sev_plus", "sev_minus")


#: Tasks of a baseline beside that of its conditions: by the authors' code, and boosted trees from random weights. They
#: are for mixed data, where most figures are off; on numbers alone that code places the reference as it should.
_CODE, _RANDOM = "_code", "_random"
_MIXED = ("adult", "german")
#: A task of many splits, for the one AUC that no condition meets.
_MANY = Task(NAME, "german", 0, "l2_splits")


def tasks(plan: Plan) -> list[Task]:
    """The four baselines on the data sets whose figures are to be met."""
    found = [
        Task(NAME, data, number, variant.name + kind)
        for data in _DATA
        if data in plan.runnable
        for variant in BASELINES
        for kind in _kinds(data, variant.name)
        for number in plan.splits_of(data)
        if number < _SPLITS.get(data, _FEW)
    ]
    return [*found, _MANY] if "german" in plan.runnable and 0 in plan.splits else found


def _kinds(data: str, model: str) -> list[str]:
    if data not in _MIXED:
        return [""]
    return ["", _CODE, _RANDOM] if model == "gbdt" else ["", _CODE]


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """One baseline of one split under every condition of one kind."""
    if task == _MANY:
        return {"auc": _authors.auc_of_splits("l2", task.data, plan)}
    model, _, kind = task.variant.partition("_")
    if f"_{kind}" == _CODE:
        return {"conditions": _authors.measure(model, task.data, task.split, plan)}
    X_train, X_test, y_train, y_test = split(task.data, task.split, plan)
    data = X_train, y_train, X_test, y_test
    seed = FIRST_SEED + task.split
    return {"conditions": _from_random(data, seed, plan) if kind else _one_by_one(model, data, seed, plan)}


def _one_by_one(model: str, data: _conditions.Rows, seed: int, plan: Plan) -> dict[str, Any]:
    """What the conditions give, each a change of one or two things."""
    X_train, y_train, X_test, _ = data
    found = {}
    fitted: dict[tuple[float, bool], Any] = {}
    for condition in _conditions.conditions(model, _conditions.is_mixed(X_train)):
        key = condition.C, condition.encoder_sees_test
        if key not in fitted:
            pipeline = _models.baseline(model, X_train, seed, C=condition.C)
            if condition.encoder_sees_test:
                pipeline = _conditions.fit_with_leak(pipeline, X_train, y_train, X_test)
            else:
                pipeline, _ = _models.fitted(pipeline, X_train, y_train)
            fitted[key] = pipeline
        found[condition.name] = _conditions.measure(condition, fitted[key], data, plan)
    return found


def _from_random(data: _conditions.Rows, seed: int, plan: Plan) -> dict[str, Any]:
    """Boosted trees whose weights start from random numbers, with either reference."""
    X_train, y_train, _, _ = data
    pipeline, _ = _models.fitted(_models.baseline("gbdt", X_train, seed), X_train, y_train)
    _reweight.from_random_weights(pipeline[-1], pipeline[0].transform(X_train), y_train, seed)
    return {
        name: _conditions.measure(_conditions.Condition(reference=how), pipeline, data, plan)
        for how, name in (("mean", "random tree weights"), ("median", "random tree weights, median"))
    }


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """For each figure that is off, which condition brings it to the paper's; then every condition in full."""
    made = Section(
        TITLE,
        [
            "Conditions change one or two things of the baselines: the penalty C of logistic regressions, the median "
            "in place of the mean, an encoder fitted on test rows too, and a reference whose values are in the order "
            "of the raw columns while the encoded columns have numbers first (possible only on mixed data: Adult and "
            "German Credit).",
            "“The authors' code” (on mixed data) does all at once that differs between the published code and the "
            "paper's text: splits that are not stratified; an encoder fitted on the negatives of all rows; columns of "
            "two values as 0 and 1, with the more common one in the reference; values of the reference in the order of "
            "the raw columns; C = 1 on German Credit; one hidden layer. Its reference is the median in one of its "
            "files and the mean in another.",
            "“Random tree weights”: the weights of the boosted trees start from random numbers and are learnt in 70 "
            "epochs of log loss, as where the authors' code tunes trees: there, a misspelt name leaves the boosted "
            "weights unused. Their baselines are not tuned, so it should not be the cause of a row of GBDT.",
            "“SEV+ from 1” is SEV+ as a search finds it that never looks at the empty set: where the reference is "
            "positive itself, it says 1 where SEV+ is 0. Elsewhere it is SEV+.",
            "“SEV- to 6” is SEV- as a search finds it that gives up after six features (the paper's limit for FICO) "
            "and counts a query without a set as seven, as the authors' code does. Elsewhere such queries "
            "are left out of the mean.",
            "These runs use fewer splits (at most ten of German Credit and three of the others), and the first test "
            "rows rather than a sample. With so many conditions one may fit by chance: what counts is one that brings "
            "SEV+ and SEV- of a model to the paper's together. A condition under which the training accuracy is not "
            "the paper's explains no SEV.",
        ],
    )
    frame = _frame(results)
    if frame.empty:
        made.sentences.append("Not run.")
        return made
    made.sentences += by_the_code(results, paper)
    lines = differences(results, paper)
    if lines:
        made.sentences += _random_weights(frame, paper) + _many_splits(results, paper)
        made.tables.append(Table("Figures of baselines that differ, and what explains them", pd.DataFrame(lines)))
        made.tables.append(_together(frame, lines, paper))
    for data in _DATA:
        made.tables.append(_make_table(frame[frame["data"] == data], data, paper))
    return made


def differences(results: Results, paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One line for each figure of a baseline that is off, with the conditions under which it is met."""
    frame = _frame(results)
    return [
        line
        for data in _DATA
        for variant in BASELINES
        if results.of("models", data, variant.name)
        for line in _differences(results, frame, data, variant.name, paper)
    ]


def by_the_code(results: Results, paper: Mapping[str, Any]) -> list[str]:
    """How many means of SEV on mixed data the authors' code brings to the paper's."""
    frame = _frame(results)
    counts, total = {}, 0
    for name in ("as described", "the authors' code, mean", "the authors' code, median"):
        near = [
            np.isfinite(line[column]) and not differs(figure, line[column], _printed(paper, line)[figure][0])
            for _, line in frame[(frame["condition"] == name) & frame["data"].isin(_MIXED)].iterrows()
            for figure, column in (("sev_plus", "sev_plus_from_one"), ("sev_minus", "sev_minus_to_depth"))
        ]
        counts[name], total = sum(near), len(near)
    if not total:
        return []
    as_told, mean, median = counts.values()
    return [
        f"Of {total} means of SEV on Adult and German Credit, {as_told} are within 0.3 of the paper's when computed as "
        f"the paper describes, {mean} by the authors' code with the mean, and {median} by it with the median."
    ]


def _printed(paper: Mapping[str, Any], line: Any) -> Any:
    """The paper's figures of the baseline of a line."""
    model = BY_NAME[line["variant"]]
    return paper["performance"][line["data"]][model.family][model.paper]


def _frame(results: Results) -> pd.DataFrame:
    every = [line for data in _DATA for variant in BASELINES for line in _conditions_of(results, data, variant.name)]
    return pd.DataFrame(every, columns=None if every else ["data", "variant", "condition"])


def _conditions_of(results: Results, data: str, variant: str) -> list[dict[str, Any]]:
    kinds = ("", _CODE, _RANDOM)
    return [line for kind in kinds for line in _lines_of(results, data, variant, kind)]


def _lines_of(results: Results, data: str, variant: str, kind: str) -> list[dict[str, Any]]:
    found = [one.result["conditions"] for one in results.of(NAME, data, variant + kind)]
    lines = []
    for name in found[0] if found else ():
        figures = {figure for one in found for figure in one[name]}
        means: dict[str, Any] = {}
        for figure in sorted(figures):
            values = [one[name][figure] for one in found if one[name].get(figure) is not None]
            means[figure] = float(np.mean(values)) if values else np.nan
        positive = sum(one[name]["reference_score"] >= 0.5 for one in found)
        lines.append(
            {"data": data, "variant": variant, "condition": name, "positive": positive, "splits": len(found), **means}
        )
    return lines


def _differences(
    results: Results, frame: pd.DataFrame, data: str, variant: str, paper: Mapping[str, Any]
) -> list[dict[str, Any]]:
    model = BY_NAME[variant]
    printed = paper["performance"][data][model.family][model.paper]
    of_model = frame[(frame["data"] == data) & (frame["variant"] == variant)]
    lines = []
    for figure in _SHOWN:
        ours = results.mean("models", data, variant, figure)
        theirs = float(printed[figure][0])
        if np.isfinite(ours) and not differs(figure, ours, theirs):
            continue
        near = [
            f"{name} ({value:.2f})"
            for name, value in _candidates(_possible(of_model, printed) if "sev" in figure else of_model, figure)
            if np.isfinite(value) and not differs(figure, value, theirs)
        ]
        lines.append(
            {
                "data": TITLES[data],
                "model": model.title,
                "figure": FIGURES[figure],
                "paper": f"{theirs:.2f}",
                "ours": number(ours) or why_none(results, data, variant),
                "met under": "; ".join(near) or NOT_MET,
            }
        )
    return lines


def _possible(of_model: pd.DataFrame, printed: Mapping[str, Any]) -> pd.DataFrame:
    """The conditions whose training accuracy is the paper's: others cannot be how its SEV came about."""
    if of_model.empty:
        return of_model
    theirs = float(printed["train_accuracy"][0])
    fits = [not differs("train_accuracy", float(value), theirs) for value in of_model["train_accuracy"]]
    return of_model[fits]


def _candidates(of_model: pd.DataFrame, figure: str) -> list[tuple[str, float]]:
    """What a figure is under each condition that can change it."""
    found = []
    for _, line in of_model.iterrows():
        name = line["condition"]
        if "sev" not in figure:
            if "median" not in name and "misplaced" not in name:  # a reference changes no accuracy
                found.append((name, line[figure]))
        elif figure == "sev_plus":
            found.append((f"{name}, counted from 1" if line["positive"] else name, line["sev_plus_from_one"]))
        else:
            found.append((name, line[figure]))
            if abs(line["sev_minus_to_depth"] - line[figure]) > 0.05:
                found.append((f"{name}, given up after 6 and counted as 7", line["sev_minus_to_depth"]))
    return found


def _together(frame: pd.DataFrame, off: list[dict[str, Any]], paper: Mapping[str, Any]) -> Table:
    """For each model with a mean SEV that is off, the condition that comes nearest to both of the paper's means."""
    models = dict.fromkeys((line["data"], line["model"]) for line in off if line["figure"].startswith("SEV"))
    lines = []
    for data in _DATA:
        for variant in BASELINES:
            if (TITLES[data], variant.title) not in models:
                continue
            printed = paper["performance"][data][variant.family][variant.paper]
            of_model = _possible(frame[(frame["data"] == data) & (frame["variant"] == variant.name)], printed)
            plus, minus = float(printed["sev_plus"][0]), float(printed["sev_minus"][0])
            distances = np.maximum(
                (of_model["sev_plus_from_one"] - plus).abs(), (of_model["sev_minus_to_depth"] - minus).abs()
            ).dropna()
            if distances.empty:
                continue
            best = of_model.loc[distances.idxmin()]
            near = not differs("sev_plus", best["sev_plus_from_one"], plus)
            near &= not differs("sev_minus", best["sev_minus_to_depth"], minus)
            lines.append(
                {
                    "data": TITLES[data],
                    "model": variant.title,
                    "paper: SEV+": f"{plus:.2f}",
                    "paper: SEV-": f"{minus:.2f}",
                    "nearest condition": best["condition"],
                    "SEV+ from 1": number(best["sev_plus_from_one"]),
                    "SEV- to 6": number(best["sev_minus_to_depth"]),
                    "both within": "yes" if near else "no",
                }
            )
    return Table(
        "The condition that brings SEV+ and SEV- of a model nearest to the paper's together", pd.DataFrame(lines)
    )


def _random_weights(frame: pd.DataFrame, paper: Mapping[str, Any]) -> list[str]:
    """What a random start does, beside the paper's baseline and its tuned trees."""
    found = frame[frame["condition"] == "random tree weights"]
    parts = []
    for _, line in found.iterrows():
        printed = paper["performance"][line["data"]]["gbdt"]
        parts.append(
            f"{TITLES[line['data']]} {line['train_accuracy']:.2f} and {line['test_auc']:.2f} (the paper's baseline "
            f"{printed['gbdt']['train_accuracy'][0]:.2f} and {printed['gbdt']['test_auc'][0]:.2f}, its All-Opt+ "
            f"{printed['all_opt_plus']['train_accuracy'][0]:.2f} and {printed['all_opt_plus']['test_auc'][0]:.2f})"
        )
    if not parts:
        return []
    return [f"Training accuracy and test AUC of trees from random weights, no term for SEV: {'; '.join(parts)}."]


def _many_splits(results: Results, paper: Mapping[str, Any]) -> list[str]:
    """Whether the AUC of L2 LR on German Credit is one of an unlucky set of ten splits."""
    found = [one.result["auc"] for one in results.of(NAME, _MANY.data, _MANY.variant)]
    if not found:
        return []
    values = found[0]
    tens = _authors.means_of_ten(values)
    theirs = paper["performance"]["german"]["lr"]["l2"]["test_auc"][0]
    low = sum(not differs("test_auc", mean, theirs) for mean in tens)
    explained = tens.min() <= theirs + 0.005
    return [
        f"L2 LR on German Credit by the authors' code has a mean AUC of {np.mean(values):.3f} over {len(values)} "
        f"splits. Means of ten splits lie between {tens.min():.3f} and {tens.max():.3f}; {low} of {len(tens)} are "
        f"within 0.02 of the paper's {theirs:.2f}. "
        + ("Unlucky splits would explain it." if explained else "None reaches it: the paper's AUC is not explained.")
    ]


def _make_table(frame: pd.DataFrame, data: str, paper: Mapping[str, Any]) -> Table:
    lines = []
    for variant in BASELINES:
        printed = paper["performance"][data][variant.family][variant.paper]
        lines.append(
            {
                "model": variant.title,
                "condition": "the paper prints",
                **{FIGURES[name]: f"{printed[name][0]:.2f}" for name in _SHOWN},
                "SEV+ from 1": f"{printed['sev_plus'][0]:.2f}",
                "SEV- to 6": f"{printed['sev_minus'][0]:.2f}",
                "reference positive": "",
            }
        )
        for _, line in frame[frame["variant"] == variant.name].iterrows():
            lines.append(
                {
                    "model": "",
                    "condition": line["condition"],
                    **{FIGURES[name]: number(line[name]) for name in _SHOWN},
                    "SEV+ from 1": number(line["sev_plus_from_one"]),
                    "SEV- to 6": number(line["sev_minus_to_depth"]),
                    "reference positive": f"{line['positive']} of {line['splits']} splits" if line["positive"] else "",
                }
            )
    return Table(f"Every condition on {TITLES[data]}", pd.DataFrame(lines))
