"""The page of the follow-up, written from the files of results: what holds in short, then every table."""

from __future__ import annotations

from pathlib import Path

import sev

from sev_reproduction._page import as_html, as_markdown
from sev_reproduction._plan import Plan
from sev_reproduction._task import Results
from sev_reproduction.decision_sparsity import _short, _tables

TITLE = "Improving decision sparsity, reproduced"


def write_page(results: Results, plan: Plan, folder: Path) -> tuple[Path, Path]:
    """Write ``decision_sparsity.md`` and ``.html`` with every table, and ``summary.md`` with what holds in short."""
    intro = introduction(results, plan)
    short = _short.section(results)
    sections = [short, *_tables.sections(results)]
    markdown, html = folder / "decision_sparsity.md", folder / "decision_sparsity.html"
    markdown.write_text(as_markdown(intro, sections, TITLE), encoding="utf-8")
    html.write_text(as_html(intro, sections, {}, TITLE), encoding="utf-8")
    (folder / "summary.md").write_text(as_markdown(intro, [short], TITLE), encoding="utf-8")
    (folder / "results.json").write_text(results.compact(), encoding="utf-8")
    return markdown, html


def introduction(results: Results, plan: Plan) -> list[str]:
    """How the figures came about."""
    rows = "all rows" if plan.max_train_rows is None else f"up to {plan.max_train_rows:,} rows"
    sentences = [
        "Written by `sev reproduce decision-sparsity`: the variants of “Improving Decision Sparsity” (Sun, Wang, "
        "Rudin; NeurIPS 2024), each computed exactly. The paper's own tables are not available here, so its figures "
        "are not shown beside these.",
        f"Models are fitted on {rows} of the training part of 80/20 stratified splits. Explained by SEV- are the "
        f"positive predictions among {plan.max_test_rows:,} test rows ({plan.max_network_rows:,} for networks, "
        f"{plan.max_queries:,} queries for DiCE, NICE and the authors' search for credible sets). Sizes are means, "
        "other figures medians of a split, averaged over splits.",
        "“Largest change” is that of the closest of all minimum sets: of a number in standard deviations of the other "
        "class, of a category 1. Likelihood is that of the changed row under a Gaussian mixture on the other class. "
        "The authors call a set credible that is more likely than three quarters of the answers without a limit.",
        "With a band and the limit together sizes are upper bounds; networks try a list of values in a band; every "
        "other size is proven unless the time ran out.",
        f"{_extent(results)} Computed with sev {sev.__version__}.",
    ]
    if plan.quick:
        sentences.insert(1, "This is a quick run on samples: it shows that everything works, not what the figures are.")
    return sentences


def _extent(results: Results) -> str:
    """How much of the plan the page rests on."""
    if not len(results):
        return "Nothing is measured yet."
    shown = ", ".join(f"{_tables.title_of(name)} {_splits_of(results, name)}" for name in _tables.data_of(results))
    seconds = sum(one.seconds for one in results)
    return (
        f"{len(results):,} measurements in {seconds / 60:.0f} minutes, on a machine that also did other work; each "
        f"figure rests on this many of the ten splits: {shown}. Where they are few, a "
        "difference of a few hundredths may not hold on others. Times are processor time."
    )


def _splits_of(results: Results, data: str) -> str:
    """How many splits the measurements of a data set have: one number, or the fewest and the most."""
    cells: dict[tuple[str, str], set[int]] = {}
    for one in results:
        if one.task.data == data:
            cells.setdefault((one.task.experiment, one.task.variant), set()).add(one.task.split)
    numbers = {len(splits) for splits in cells.values()}
    return str(numbers.pop()) if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"
