"""The summary of ``benchmarks/training.py``, from its lines: ``python docs/pages/training_results.py``.

The page has two screens; ``training_tables.py`` writes every table on demand.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from folded import folded
from training_tables import DATA, RESULTS, SIGN, by_schedule, falling_short, line_of, mean_of, ratios, read_lines
from training_tables import restricted as restricted_table

ROOT = Path(__file__).parents[2]
FAMILIES = {"LR": "linear", "MLP": "perceptron", "GBDT": "boosted trees"}

HEAD = """# Training: how many fewer reasons

How many reasons decisions need before and after [training for fewer](training.md), and what that costs in accuracy. All
data sets and models have one setting, the defaults of the estimators.

## Fewer reasons, and their price

Mean number of features before -> after, and the change of accuracy and AUC against the same model without the tuning.
"reference positive": the model without the tuning predicts the reference itself positive, so that SEV+ has no meaning.

"""

MEASURED = """
Splits are 80/20 and stratified. Figures are means over three seeds (ten on German Credit), on the test part. Seeds
count from {seed}: no setting was chosen on these splits. The reference is the mean or mode of the negatives of the
training part. On Diabetes, 2,000 of the rows that are predicted positive are explained, on the other data all; every
explanation is exact. A target is a largest mean SEV with a least change of accuracy and AUC, a share of positives
within 10 %, and a reference that stays negative. Where there is none, it is the paper's own SEV at its accuracy.
"""

TABLES = """
`python docs/pages/training_tables.py` writes all tables from the recorded measurements: every row beside the paper's
figures, with targets and shares of positives. `benchmarks/training.py` measures again.
"""


def page(lines: list[dict[str, Any]]) -> str:
    """What was gained, what it cost, what falls short, and how it was measured."""
    flat, published = by_schedule(lines)
    sentences = [_targets(flat), _both(flat), _schedules(flat, published), _times(flat)]
    parts = [
        HEAD + "\n".join(_gains(flat)),
        "\n".join(fill(f"- {one}", 120, subsequent_indent="  ", break_on_hyphens=False) for one in sentences),
        folded("Restricted features, linear models (All-Opt(R))", restricted_table(flat, verdicts=False)),
        falling_short(flat),
    ]
    measured = folded("How it was measured", MEASURED.format(seed=flat["seed"].min()))
    return "\n\n".join([*parts, measured]) + TABLES


def _gains(flat: pd.DataFrame) -> list[str]:
    lines = ["| data | model | SEV- | accuracy, AUC | SEV+ | accuracy, AUC |", "|" + "---|" * 6]
    for data in DATA:
        for family, title in FAMILIES.items():
            cells = []
            for kind in ("minus", "plus"):
                part = flat[(flat["data"] == data) & (flat["family"] == family) & (flat["objective"] == kind)]
                cells += _gain(part, f"sev_{kind}") if len(part) else ["", ""]
            lines.append("| " + " | ".join([data, title, *cells]) + " |")
    return lines


def _gain(part: pd.DataFrame, size: str) -> list[str]:
    """Mean sizes before and after, and the change of accuracy and AUC."""
    before, after = (mean_of(part, who, size) for who in ("base", "ours"))
    change = [mean_of(part, "ours", what) - mean_of(part, "base", what) for what in ("accuracy", "auc")]
    sizes = f"{before:.2f} -> {after:.2f}" if before == before else f"reference positive -> {after:.2f}"
    return [sizes, ", ".join(f"{one:+.3f}" for one in change)]


def _targets(flat: pd.DataFrame) -> str:
    verdicts = [
        line_of(part)[2]
        for (_, _, objective), part in flat.groupby(["data", "family", "objective"])
        if objective in SIGN
    ]
    judged = [one for one in verdicts if one]
    return (
        f"**Targets.** {judged.count('met')} of {len(judged)} combinations of data, model and objective (with "
        "`volume`) meet the target that was set for them; the others are named below."
    )


def _both(flat: pd.DataFrame) -> str:
    found = flat[flat["objective"] == "both"]
    means = {
        size: [(mean_of(part, "base", size), mean_of(part, "ours", size)) for _, part in found.groupby("data")]
        for size in ("sev_minus", "sev_plus")
    }
    largest = [
        f"the largest mean {title} is {max(after for _, after in means[size]):.2f} "
        f"({max(before for before, _ in means[size]):.2f} before)"
        for size, title in (("sev_minus", "SEV-"), ("sev_plus", "SEV+"))
    ]
    lost = [mean_of(part, "ours", "accuracy") - mean_of(part, "base", "accuracy") for _, part in found.groupby("data")]
    return (
        f'**One linear model for both kinds** (`objective="both"`): over the {found["data"].nunique()} data sets '
        f"{' and '.join(largest)}, with a change of accuracy between {min(lost):+.3f} and {max(lost):+.3f}."
    )


def _schedules(flat: pd.DataFrame, published: pd.DataFrame) -> str:
    """On how many rows the recipe does at least as well as the paper's own schedule, on the same splits."""
    names = ["data", "family", "objective"]
    shorter = as_accurate = total = 0
    for key, part in published.groupby(names):
        same = flat[(flat[names] == pd.Series(key, index=names)).all(axis=1) & flat["seed"].isin(part["seed"])]
        if len(same) != len(part):
            continue
        size = "sev_minus" if key[2] == "minus" else "sev_plus"
        total += 1
        shorter += mean_of(same, "ours", size) <= mean_of(part, "ours", size)
        as_accurate += mean_of(same, "ours", "accuracy") >= mean_of(part, "ours", "accuracy")
    return (
        f'**The paper\'s own schedule** (`schedule="paper"`), linear models, the same splits: the default recipe needs '
        f"no more features on {shorter} of {total} rows, and is at least as accurate on {as_accurate}."
    )


def _times(flat: pd.DataFrame) -> str:
    found = ratios(flat)
    low, high, theirs = found["ratio"].min(), found["ratio"].max(), found["paper"]
    return (
        f"**Time.** A perceptron with the tuning takes {low:.1f} to {high:.1f} times as long as the perceptron alone "
        f"(paper: {theirs.min():.1f} to {theirs.max():.1f})."
    )


def main() -> None:
    """Write the page."""
    output = ROOT / "docs" / "training_results.md"
    output.write_text(page(read_lines(RESULTS)), encoding="utf-8")
    print(f"written: {output}")


if __name__ == "__main__":
    main()
