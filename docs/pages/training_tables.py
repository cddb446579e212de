"""All tables of ``benchmarks/training.py``, from its lines. ``training_results.py`` writes the page that sums them up.

python docs/pages/training_tables.py                          # the tracked results, into training_tables.md
python docs/pages/training_tables.py lines.jsonl -o page.md   # others
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
RESULTS = [ROOT / "benchmarks" / "results" / f"{name}.jsonl" for name in ("training", "training_paper")]
DATA = ("Adult", "COMPAS", "FICO", "German", "Diabetes")

#: accuracy / AUC / mean SEV of the optimised models, as the paper prints them.
PAPER = {
    ("Adult", "LR", "plus"): (0.85, 0.90, 1.10),
    ("Adult", "LR", "minus"): (0.84, 0.90, 1.03),
    ("Adult", "LR", "volume"): (0.84, 0.89, 1.01),
    ("Adult", "MLP", "plus"): (0.84, 0.90, 1.01),
    ("Adult", "MLP", "minus"): (0.85, 0.93, 1.03),
    ("Adult", "GBDT", "plus"): (0.87, 0.90, 1.03),
    ("Adult", "GBDT", "minus"): (0.85, 0.91, 1.00),
    ("COMPAS", "LR", "plus"): (0.66, 0.71, 1.03),
    ("COMPAS", "LR", "minus"): (0.65, 0.72, 1.05),
    ("COMPAS", "LR", "volume"): (0.65, 0.71, 1.03),
    ("COMPAS", "MLP", "plus"): (0.68, 0.73, 1.00),
    ("COMPAS", "MLP", "minus"): (0.68, 0.74, 1.24),
    ("COMPAS", "GBDT", "plus"): (0.66, 0.70, 1.01),
    ("COMPAS", "GBDT", "minus"): (0.66, 0.70, 1.01),
    ("FICO", "LR", "plus"): (0.70, 0.77, 1.03),
    ("FICO", "LR", "minus"): (0.68, 0.75, 1.14),
    ("FICO", "LR", "volume"): (0.69, 0.76, 1.04),
    ("FICO", "MLP", "plus"): (0.67, 0.78, 1.01),
    ("FICO", "MLP", "minus"): (0.67, 0.75, 1.52),
    ("FICO", "GBDT", "plus"): (0.70, 0.75, 1.00),
    ("FICO", "GBDT", "minus"): (0.69, 0.75, 1.84),
    ("German", "LR", "plus"): (0.75, 0.77, 1.00),
    ("German", "LR", "minus"): (0.75, 0.77, 1.04),
    ("German", "LR", "volume"): (0.70, 0.75, 1.00),
    ("German", "MLP", "plus"): (0.73, 0.80, 1.00),
    ("German", "MLP", "minus"): (0.76, 0.81, 1.18),
    ("German", "GBDT", "plus"): (0.73, 0.76, 1.01),
    ("German", "GBDT", "minus"): (0.74, 0.76, 1.17),
    ("Diabetes", "LR", "plus"): (0.56, 0.63, 1.00),
    ("Diabetes", "LR", "minus"): (0.56, 0.63, 1.00),
    ("Diabetes", "LR", "volume"): (0.57, 0.61, 1.00),
}
#: Seeds that a row should have.
SEEDS = {"Adult": 3, "COMPAS": 3, "FICO": 3, "German": 10, "Diabetes": 3}
#: accuracy / AUC / mean SEV(R) / share unexplainable, after the paper's All-Opt(R).
PAPER_RESTRICTED = {
    "Adult": (0.84, 0.90, 1.02, 0.0),
    "COMPAS": (0.65, 0.72, 1.28, 0.0335),
    "German": (0.76, 0.78, 1.05, 0.0),
}
#: Largest mean SEV, least change of accuracy, least change of AUC.
TARGETS = {
    ("Adult", "LR", "plus"): (1.01, -0.005, -0.01),
    ("Adult", "MLP", "plus"): (1.01, -0.005, -0.01),
    ("Adult", "GBDT", "plus"): (1.02, -0.005, -0.01),
    ("Adult", "LR", "minus"): (1.07, -0.006, -0.01),
    ("Adult", "MLP", "minus"): (1.06, -0.006, -0.01),
    ("Adult", "GBDT", "minus"): (1.04, -0.006, -0.01),
    ("COMPAS", "LR", "plus"): (1.03, -0.01, -0.01),
    ("COMPAS", "MLP", "plus"): (1.02, -0.01, -0.01),
    ("COMPAS", "GBDT", "plus"): (1.02, -0.01, -0.01),
    ("COMPAS", "LR", "minus"): (1.06, -0.01, -0.01),
    ("COMPAS", "MLP", "minus"): (1.07, -0.01, -0.01),
    ("COMPAS", "GBDT", "minus"): (1.02, -0.01, -0.01),
    ("FICO", "LR", "plus"): (1.03, -0.01, -0.01),
    ("FICO", "MLP", "plus"): (1.01, -0.01, -0.01),
    ("FICO", "GBDT", "plus"): (1.02, -0.01, -0.01),
    ("FICO", "LR", "minus"): (1.20, -0.04, -0.035),
    ("FICO", "MLP", "minus"): (1.22, -0.03, -0.035),
    ("FICO", "GBDT", "minus"): (1.30, -0.03, -0.035),
    ("German", "LR", "plus"): (1.04, -0.015, -0.025),
    ("German", "MLP", "plus"): (1.08, -0.015, -0.025),
    ("German", "GBDT", "plus"): (1.03, -0.015, -0.025),
    ("German", "LR", "minus"): (1.08, -0.02, -0.01),
    ("German", "MLP", "minus"): (1.09, -0.02, -0.01),
    ("German", "GBDT", "minus"): (1.08, -0.02, -0.01),
    **{(name, "LR", "volume"): (1.06, -0.012, -np.inf) for name in ("Adult", "COMPAS", "FICO", "German")},
}
SIGN = {"plus": "SEV+", "minus": "SEV-", "volume": "SEV+ by volume"}


def by_schedule(lines: list[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The measurements of the recipe, and those of the paper's own schedule."""
    everything = pd.json_normalize(lines)
    return everything[everything["schedule"] == "recipe"], everything[everything["schedule"] == "paper"]


def tables(lines: list[dict[str, Any]]) -> str:
    """Markdown with base, ours and paper for each row that has been run."""
    flat, published = by_schedule(lines)
    parts = [_HEAD + _seeds(flat), _main(flat), _both(flat), restricted(flat)]
    parts += [falling_short(flat), _published(published, flat), _times(flat)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _seeds(flat: pd.DataFrame) -> str:
    found = f"\nSeeds count from {flat['seed'].min()}: none of the settings was chosen on these splits."
    return found if len(flat) else ""


def mean_of(part: pd.DataFrame, who: str, what: str) -> float:
    """The mean of one figure over seeds."""
    return float(part[f"{who}.{what}"].mean())


def _main(flat: pd.DataFrame) -> str:
    rows = []
    for (name, family, objective), part in flat.groupby(["data", "family", "objective"], sort=False):
        if objective in SIGN:
            rows.append((DATA.index(name), ("LR", "MLP", "GBDT").index(family), list(SIGN).index(objective), part))
    lines = [
        "| data, model, objective | paper | base | ours | share of 1 | positives | seeds | target |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for *_, part in sorted(rows, key=lambda row: row[:3]):
        lines.append(line_of(part)[0])
    run = set(flat[["data", "family", "objective"]].itertuples(index=False, name=None))
    missing = [f"{key[0]} {key[1]} {SIGN[key[2]]}" for key in PAPER if key not in run]
    note = f"\n\nNot run for this page: {', '.join(missing)}." if missing else ""
    return "## Base, ours and the paper's: accuracy / AUC / mean SEV\n\n" + "\n".join(lines) + note


def line_of(part: pd.DataFrame) -> tuple[str, str, str]:
    """The line of the table, its name and its verdict."""
    key = tuple(part.iloc[0][["data", "family", "objective"]])
    kind = "plus" if key[2] in ("plus", "volume") else "minus"
    numbers = {
        who: [mean_of(part, who, what) for what in ("accuracy", "auc", f"sev_{kind}")] for who in ("base", "ours")
    }
    paper = PAPER.get(key)
    rate = mean_of(part, "base", "positive_rate"), mean_of(part, "ours", "positive_rate")
    name, verdict = f"{key[0]} {key[1]} {SIGN[key[2]]}", _verdict(key, part, numbers, rate)
    cells = [
        name,
        _slashed(paper, 2) if paper else "",
        *(_slashed(numbers[who]) + _without(part, who, kind) for who in numbers),
        f"{100 * mean_of(part, 'ours', f'share_of_one_{kind}'):.1f} %",
        f"{rate[0]:.3f} -> {rate[1]:.3f}",
        str(len(part)),
        verdict,
    ]
    return "| " + " | ".join(cells) + " |", name, verdict


def _verdict(key: Any, part: pd.DataFrame, numbers: dict[str, list[float]], rate: tuple[float, float]) -> str:
    if key not in TARGETS:
        return _beside_paper(PAPER[key], numbers["ours"]) if key in PAPER else ""
    size, accuracy, auc = TARGETS[key]
    change = [after - before for before, after in zip(numbers["base"], numbers["ours"], strict=True)]
    short = []
    if numbers["ours"][2] > size + 5e-4:
        short.append(f"SEV above {size:.2f}")
    if change[0] < accuracy - 5e-5:
        short.append(f"accuracy {change[0]:+.4f} below {accuracy:+.3f}")
    if change[1] < auc - 5e-5:
        short.append(f"AUC {change[1]:+.4f} below {auc:+.3f}")
    if abs(rate[1] / rate[0] - 1.0) > 0.1:
        short.append(f"positives {100 * (rate[1] / rate[0] - 1.0):+.0f} %")
    if (part["ours.reference_score"] >= 0.5).any():
        short.append("reference positive")
    return "; ".join(short) if short else "met"


def _without(part: pd.DataFrame, who: str, kind: str) -> str:
    """How many seeds the mean SEV+ leaves out because the reference is positive, where it is not all of them."""
    gone = int(part[f"{who}.sev_{kind}"].isna().sum())
    return f" (reference positive in {gone} of {len(part)} seeds)" if 0 < gone < len(part) else ""


def _beside_paper(paper: tuple[float, ...], ours: list[float]) -> str:
    """Where no other target is set: at most the paper's SEV at no less than its accuracy, to the digits it prints."""
    short = []
    if ours[0] < paper[0] - 0.005:
        short.append(f"accuracy below the paper's {paper[0]:.2f}")
    if not ours[2] < paper[2] + 0.005:
        short.append(f"SEV {ours[2]:.3f} above the paper's {paper[2]:.2f}")
    return "; ".join(short) if short else "met"


def falling_short(flat: pd.DataFrame) -> str:
    """The rows that miss a target, by name, and those with fewer seeds than asked for."""
    missed, few = [], []
    for (data, _, objective), part in flat.groupby(["data", "family", "objective"], sort=True):
        if objective in SIGN:
            _, name, verdict = line_of(part)
            before, after = (mean_of(part, who, "positive_rate") for who in ("base", "ours"))
            if verdict not in ("", "met"):
                said = f"{verdict} (positives {before:.3f} -> {after:.3f}, {_seeds_of(part)})"
                missed.append(f"- {name}: {said}.{_better(flat, part)}")
        elif objective == "restricted":
            name, verdict = f"{data} LR SEV(R)", _restricted_verdict(part)
            if verdict != "met":
                missed.append(f"- {name}: {verdict} ({_seeds_of(part)}).")
        else:
            name = f"{data} LR both kinds"
        if len(part) < SEEDS[data]:
            few.append(f"{name} ({len(part)} of {SEEDS[data]})")
    said = "\n".join([*missed, "", _TRIED]) if missed else "None."
    note = f"\n\nFewer seeds than planned: {', '.join(few)}." if few else ""
    return "## Rows that fall short\n\n" + said + note


def _better(flat: pd.DataFrame, part: pd.DataFrame) -> str:
    """Another objective that gives the same model shorter explanations of this kind at no less accuracy, if any."""
    data, family, objective = part.iloc[0][["data", "family", "objective"]]
    size = "sev_minus" if objective == "minus" else "sev_plus"
    others = flat[(flat["data"] == data) & (flat["family"] == family) & flat["seed"].isin(part["seed"])]
    for other in ("plus", "both"):
        found = others[others["objective"] == other]
        if len(found) != len(part) or found[f"ours.{size}"].isna().any():
            continue
        accuracy, mean = mean_of(found, "ours", "accuracy"), mean_of(found, "ours", size)
        if mean < mean_of(part, "ours", size) and accuracy >= mean_of(part, "ours", "accuracy"):
            kind = "SEV-" if objective == "minus" else "SEV+"
            return f' `objective="{other}"` reaches {kind} {mean:.3f} at an accuracy of {accuracy:.3f}.'
    return ""


def _seeds_of(part: pd.DataFrame) -> str:
    return "1 seed" if len(part) == 1 else f"{len(part)} seeds"


def _both(flat: pd.DataFrame) -> str:
    found = flat[flat["objective"] == "both"]
    if found.empty:
        return ""
    lines = ["| data | accuracy | AUC | SEV+ | SEV- | positives | seeds |", "|---|---|---|---|---|---|---|"]
    for name, part in found.groupby("data", sort=True):
        arrows = [
            f"{mean_of(part, 'base', what):.3f} -> {mean_of(part, 'ours', what):.3f}"
            for what in ("accuracy", "auc", "sev_plus", "sev_minus", "positive_rate")
        ]
        lines.append(f"| {name} | " + " | ".join(arrows) + f" | {len(part)} |")
    return '## One linear model for both kinds (`objective="both"`)\n\n' + "\n".join(lines)


def restricted(flat: pd.DataFrame, verdicts: bool = True) -> str:
    """Linear models tuned for SEV(R), beside the paper's; with a title and what is missed if `verdicts`."""
    found = flat[flat["objective"] == "restricted"]
    if found.empty:
        return ""
    head = ["data", "paper: accuracy/AUC/SEV(R), unexplainable", "base", "ours", "positives", "seeds"]
    head += ["target"] * verdicts
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, part in found.groupby("data", sort=True):
        paper = PAPER_RESTRICTED[str(name)]
        cells = [_slashed(paper[:3], 2) + f", {100 * paper[3]:.1f} %"]
        for who in ("base", "ours"):
            values = [mean_of(part, who, what) for what in ("accuracy", "auc", "sev_restricted")]
            share = 100 * mean_of(part, who, "unexplainable_restricted")
            cells.append(_slashed(values) + f", {share:.1f} %")
        rate = f"{mean_of(part, 'base', 'positive_rate'):.3f} -> {mean_of(part, 'ours', 'positive_rate'):.3f}"
        cells = [str(name), *cells, rate, str(len(part)), *[_restricted_verdict(part)] * verdicts]
        lines.append("| " + " | ".join(cells) + " |")
    title = "## Restricted features, linear models (All-Opt(R))\n\n" if verdicts else ""
    return (
        title + "An unexplainable query counts as the number of features; the paper leaves it out of its mean.\n"
        "The target is to be no worse than the paper in accuracy, SEV(R) and unexplainable share.\n\n"
        + "\n".join(lines)
    )


def _restricted_verdict(part: pd.DataFrame) -> str:
    """Against the paper's figures, to the digits that it prints."""
    accuracy, _, size, unexplainable = PAPER_RESTRICTED[part.iloc[0]["data"]]
    short = []
    if (found := mean_of(part, "ours", "accuracy")) < accuracy - 0.005:
        short.append(f"accuracy {found:.3f} below {accuracy:.2f}")
    if (found := mean_of(part, "ours", "sev_restricted")) > size + 0.005:
        short.append(f"SEV(R) {found:.3f} above {size:.2f}")
    if (found := mean_of(part, "ours", "unexplainable_restricted")) > unexplainable + 5e-4:
        short.append(f"unexplainable {100 * found:.2f} % above {100 * unexplainable:.1f} %")
    return "; ".join(short) if short else "met"


def _published(flat: pd.DataFrame, recipe: pd.DataFrame) -> str:
    """The paper's own schedule beside the recipe on the same splits, with the references that it turns positive."""
    if flat.empty:
        return ""
    lines = [
        "| data, model, objective | paper prints | base | paper's schedule | recipe | positives | reference positive |",
        "|---|---|---|---|---|---|---|",
    ]
    names = ["data", "family", "objective"]
    for key, part in flat.groupby(names, sort=True):
        kind = "plus" if key[2] in ("plus", "volume") else "minus"
        whats = ("accuracy", "auc", f"sev_{kind}")
        same = recipe[(recipe[names] == pd.Series(key, index=names)).all(axis=1) & recipe["seed"].isin(part["seed"])]
        cells = [_slashed(PAPER[key], 2) if key in PAPER else ""]
        cells += [_slashed([mean_of(part, who, what) for what in whats]) for who in ("base", "ours")]
        cells.append(_slashed([mean_of(same, "ours", what) for what in whats]) if len(same) == len(part) else "not run")
        rate = f"{mean_of(part, 'base', 'positive_rate'):.3f} -> {mean_of(part, 'ours', 'positive_rate'):.3f}"
        bad = f"{int((part['ours.reference_score'] >= 0.5).sum())} of {_seeds_of(part)}"
        lines.append(f"| {key[0]} {key[1]} {SIGN[key[2]]} | " + " | ".join(cells) + f" | {rate} | {bad} |")
    return _PUBLISHED + "\n".join(lines)


def _slashed(values: Any, digits: int = 3) -> str:
    """Accuracy, AUC and SEV in one cell."""
    return "/".join("reference positive" if np.isnan(value) else f"{value:.{digits}f}" for value in values)


#: How much longer the paper's training of a perceptron takes than plain training: for SEV+ and for SEV-.
PAPER_RATIOS = {
    "COMPAS": (2.6, 2.1), "Adult": (2.7, 2.2), "German": (2.8, 2.3), "FICO": (2.8, 2.2), "Diabetes": (3.2, 2.8)
}  # fmt: skip


def ratios(flat: pd.DataFrame) -> pd.DataFrame:
    """Processor seconds of perceptrons, plain and tuned, by data and objective; quiet runs where there are some."""
    found = flat[(flat["family"] == "MLP") & flat["base_seconds"].notna()]
    lines = []
    for (name, objective), part in found.groupby(["data", "objective"], sort=True):
        busy = part["busy"].eq(True) if "busy" in part else pd.Series(False, index=part.index)
        part = part if busy.all() else part[~busy]
        lines.append(
            {
                "data": name,
                "objective": objective,
                "plain": part["base_seconds"].median(),
                "ours": part["seconds"].median(),
                "ratio": (part["seconds"] / part["base_seconds"]).median(),
                "paper": PAPER_RATIOS[str(name)][objective == "minus"],
                "busy": bool(busy.all()),
            }
        )
    return pd.DataFrame(lines)


def _times(flat: pd.DataFrame) -> str:
    found = ratios(flat)
    if found.empty:
        return ""
    lines = ["| data | objective | plain, s | ours, s | ratio | paper's ratio |", "|---|---|---|---|---|---|"]
    for one in found.itertuples():
        ratio = f"{one.ratio:.2f}" + " *" * one.busy
        lines.append(
            f"| {one.data} | {SIGN[one.objective]} | {one.plain:.2f} | {one.ours:.2f} | {ratio} | {one.paper} |"
        )
    note = (
        "\n\n\\* Beside other work on the same core: the ratio counts, not the seconds." if found["busy"].any() else ""
    )
    return (
        "## Training time, MLP 128-128\n\nProcessor seconds on one core, encoding included: plain is the base model "
        "alone, ours is\nthe base model and the tuning; medians over seeds.\n\n" + "\n".join(lines) + note
    )


_HEAD = """# Training for short explanations: all tables

Measured by `benchmarks/training.py`, written by `docs/pages/training_tables.py`. One setting for all data sets and
families: the defaults of the estimators. Splits are 80/20 and stratified; figures are means over seeds, on the test
part, against the family's own base model on the same split. Explanations are exact. The reference is the mean or mode
of the negatives of the training part. On Diabetes, 2,000 of the rows that are predicted positive are explained, on the
other data all."""

_TRIED = "Variations of the recipe are under [other ways that were tried](training_beyond.md)."

_PUBLISHED = """## The paper's own schedule

`schedule="paper"` with its other defaults: random weights, 70 epochs of cross-entropy, 30 with the SEV and the
reference term, Adam with a rate of 0.1, batches of 128, no guard on the share of positives, and a weight of 1 for the
SEV term (0.03 for "volume"). Accuracy / AUC / mean SEV; the recipe is on the same splits. Where the reference turned
positive SEV+ has no meaning, and that seed is left out of its mean.

"""


def read_lines(files: list[Path]) -> list[dict[str, Any]]:
    """The measurements of several files; the page compares the schedules that they are about."""
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path, default=RESULTS)
    parser.add_argument("-o", "--output", type=Path, default=Path("training_tables.md"))
    given = parser.parse_args()
    given.output.write_text(tables(read_lines(given.results)), encoding="utf-8")
    print(f"written: {given.output}")


if __name__ == "__main__":
    main()
