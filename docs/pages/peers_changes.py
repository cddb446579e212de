"""The page of ``benchmarks/peers_changes.py``: ``python docs/pages/peers_changes.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from folded import folded

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "peers_changes.json"

HEAD = """# Permitted changes, beside peers

The same {n_rows} refused applicants (FICO, XGBoost with 200 trees of depth 3), one at a time, under the same
constraints: one feature is frozen, one may only rise, every value is an integer between the smallest and the largest of
the training rows. {versions}; treecf had {limit:g} seconds a row. Seconds are processor time on a shared machine: read
them as orders of magnitude. `benchmarks/peers_changes.py` measures again.

*Cost* is the sum of all changes in standard deviations. *Proven* is the share of rows for which the method proves that
no smaller set, or no less costly change, is permitted. *Broken* is the share of rows whose change breaks a constraint:
{nice}DiCE was passed the ranges and the frozen feature.
"""

RATIOS = """
## How many times as fast

treecf's seconds for the fewest features, divided by those of sev for the same answer (the least costly of the smallest
sets, proven), measured in three ways: the compiled search alone; the public call `explain(rows, values="any")` for all
rows of the size at once, a row; and the public call for one row, most of which is pandas and the model itself.
Means over the rows of each size; where treecf stopped at its limit, the ratio is a lower bound. Calls of
one row list all minimum sets, which takes several times as long as the least costly one does in the search alone; in
this measurement the call for size 3 still did so too.

"""

MENU = """
## All minimum sets

For rows whose smallest sets have two features: `explain(values="any")` lists all of them; treecf's counterpart is
`recourse_menu`.

"""

NOTES = """
- "search alone" is the compiled search without the work of pandas and of the model itself around it, which takes most
  of the time of a call for one row; "in a batch" is a share of a whole call.
- Where both prove an answer, sizes and costs are the same: `tests/actions/test_treecf.py` checks that.
- The least cost of any number of features is harder than the fewest features: within its budget of about a second a
  row, sev proved {cost_proven:.0%} of these rows. The others are "feasible": the cost is that of the best change found.
- treecf also bounds how unusual a change may be (an isolation forest); {any_model} any model.
"""


def read_lines() -> dict[str, Any]:
    """The tracked results."""
    document: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return document


def page(document: dict[str, Any]) -> str:
    """The page, from results."""
    lines = pd.DataFrame(document["lines"])
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    has_nice = (lines["method"] == "NICE").any()
    nice = "NICE takes none of them, " if has_nice else ""
    parts = [HEAD.format(n_rows=lines["row"].nunique(), versions=versions, limit=document["limit"], nice=nice)]
    for size, some in reversed(list(lines.groupby("smallest"))):
        title = f"Rows whose smallest set has {size} feature{'s' if size > 1 else ''}"
        is_hardest = size == lines["smallest"].max()
        parts.append(f"\n## {title}\n\n{_table(some)}" if is_hardest else "\n" + folded(title, _table(some)))
    parts.append(RATIOS + _ratios(lines, document["batches"]))
    parts.append(MENU + _menus(document["menus"], document["batches"]))
    cost = lines[lines["method"] == "sev, least cost"]
    any_model = "NICE and DiCE take" if has_nice else "DiCE takes"
    parts.append(NOTES.format(cost_proven=cost["proven"].mean(), any_model=any_model))
    return "".join(parts)


def _ratios(lines: pd.DataFrame, batches: list[dict[str, Any]]) -> str:
    text = (
        "| size | treecf, s | proven | search alone, ms | ratio | call of a batch, ms a row | ratio | "
        "call of one row, ms | ratio |\n"
    )
    text += "|---|---|---|---|---|---|---|---|---|\n"
    for one in batches:
        mine = lines[lines["smallest"] == one["size"]]
        peer, own = mine[mine["method"] == "treecf, fewest"], mine[mine["method"] == "sev, fewest"]
        if not len(peer):
            continue
        seconds = peer["seconds"].mean()
        ways = (own["search"].mean(), one["first"] / one["rows"], own["seconds"].mean())
        shown = " | ".join(f"{1e3 * way:.3g} | {seconds / way:,.0f}" for way in ways)
        text += f"| {one['size']} | {seconds:.3g} | {peer['proven'].mean():.0%} | {shown} |\n"
    return text


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


def _menus(menus: list[dict[str, Any]], batches: list[dict[str, Any]]) -> str:
    batch = next(one["all"] / one["rows"] for one in batches if one["size"] == 2)
    text = (
        "| sets found by sev | by treecf | treecf, s | search alone, ms | ratio | in a batch, ms a row | ratio | "
        "one row, ms | ratio |\n"
    )
    text += "|---|---|---|---|---|---|---|---|---|\n"
    for one in menus:
        ways = " | ".join(
            f"{1e3 * way:.2g} | {one['seconds'] / way:,.0f}" for way in (one["sev_search"], batch, one["sev_seconds"])
        )
        text += (
            f"| {one['sev_sets']} | {one['n_sets']}{'' if one['complete'] else ' (not complete)'} | "
            f"{one['seconds']:.2g} | {ways} |\n"
        )
    return text


if __name__ == "__main__":
    (ROOT / "docs" / "peers_changes.md").write_text(page(read_lines()), encoding="utf-8")
