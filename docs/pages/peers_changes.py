"""The page of ``benchmarks/peers_changes.py``: ``python docs/pages/peers_changes.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "peers_changes.json"

HEAD = """# Permitted changes, beside peers

The same {n_rows} refused applicants (FICO, XGBoost with 200 trees of depth 3), one at a time, under the same
constraints: one feature is frozen, one may only rise, every value is an integer between the smallest and the largest of
the training rows. {versions}; treecf had {limit:g} seconds a row. Seconds are processor time on a shared machine: read
them as orders of magnitude. `benchmarks/peers_changes.py` measures again.

*Cost* is the sum of all changes in standard deviations. *Proven* is the share of rows for which the method proves that
no smaller set, or no less costly change, is permitted. *Broken* is the share of rows whose change breaks a constraint:
NICE takes none of them, DiCE was passed the ranges and the frozen feature.
"""

MENU = """
## All minimum sets

For rows whose smallest sets have two features: `explain(values="any")` lists all of them; treecf's counterpart is
`recourse_menu`.

"""

NOTES = """
- "search alone" is the compiled search without the work of pandas and of the model itself around it, which takes most
  of the time of a call for one row. In a batch of {batch_rows} rows the whole call took {batch:.2f} ms a row.
- Where both prove an answer, sizes and costs are the same: `tests/actions/test_treecf.py` checks that.
- The least cost of any number of features is harder than the fewest features: within its budget of about a second a
  row, sev proved {cost_proven:.0%} of these rows. The others are "feasible": the cost is that of the best change found.
- treecf also bounds how unusual a change may be (an isolation forest); NICE and DiCE take any model.
"""


def read_lines() -> dict[str, Any]:
    """The tracked results."""
    document: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return document


def page(document: dict[str, Any]) -> str:
    """The page, from results."""
    lines = pd.DataFrame(document["lines"])
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    parts = [HEAD.format(n_rows=lines["row"].nunique(), versions=versions, limit=document["limit"])]
    for size, some in lines.groupby("smallest"):
        parts.append(f"\n## Rows whose smallest set has {size} feature{'s' if size > 1 else ''}\n\n")
        parts.append(_table(some))
    parts.append(MENU + _menus(document["menus"]))
    cost = lines[lines["method"] == "sev, least cost"]
    batch = document["batch"]
    parts.append(
        NOTES.format(
            batch_rows=batch["rows"],
            batch=1e3 * batch["seconds"] / max(batch["rows"], 1),
            cost_proven=cost["proven"].mean(),
        )
    )
    return "".join(parts)


def _table(lines: pd.DataFrame) -> str:
    text = "| method | size | cost | seconds | search alone, ms | proven | broken | not found |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    for method, some in lines.groupby("method", sort=False):
        found = some[some["flips"]]
        alone = some["search"].mean()
        text += (
            f"| {method} | {found['size'].mean():.2f} | {found['cost'].mean():.2f} | {some['seconds'].mean():.3g} | "
            f"{'' if pd.isna(alone) else f'{1e3 * alone:.3g}'} | {some['proven'].mean():.0%} | "
            f"{(found['violations'] > 0).mean():.0%} | {len(some) - len(found)} |\n"
        )
    return text


def _menus(menus: list[dict[str, Any]]) -> str:
    text = "| sets found by sev | by treecf | sev, s | search alone, ms | treecf, s | treecf / search alone |\n"
    text += "|---|---|---|---|---|---|\n"
    for one in menus:
        text += (
            f"| {one['sev_sets']} | {one['n_sets']}{'' if one['complete'] else ' (not complete)'} | "
            f"{one['sev_seconds']:.2g} | {1e3 * one['sev_search']:.2g} | {one['seconds']:.2g} | "
            f"{one['seconds'] / one['sev_search']:,.0f} |\n"
        )
    return text


if __name__ == "__main__":
    (ROOT / "docs" / "peers_changes.md").write_text(page(read_lines()), encoding="utf-8")
