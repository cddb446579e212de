"""The summary of the follow-up's reproduction, from the recorded results: ``python docs/pages/decision_sparsity.py``.

It needs the package of ``reproduction/``: ``pip install ./reproduction``.
"""

from __future__ import annotations

from pathlib import Path

from sev_reproduction._page import as_markdown
from sev_reproduction._task import Results
from sev_reproduction.decision_sparsity import follow_up_plan
from sev_reproduction.decision_sparsity._page import TITLE, introduction
from sev_reproduction.decision_sparsity._short import section

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "reproduction" / "decision_sparsity.json"

COMMANDS = """## The full tables

Every table by data set and base model, ten splits, is written on demand:

    pip install ./reproduction
    SEV_DATA_HOME=data sev reproduce decision-sparsity -o follow-up
    sev reproduce decision-sparsity --quick --data german -o quick    # two minutes, on samples

A run can be stopped at any time and goes on where it was; `--splits 0-2` and `--data fico` cut it into pieces.
MIMIC-III takes part with your own copy (`--mimic`), NICE where it is installed (`pip install --no-deps NICEx`).
"""


def page() -> str:
    """The summary: how it was measured, and what holds."""
    results = Results.from_compact(RECORDED.read_text(encoding="utf-8"))
    return as_markdown(introduction(results, follow_up_plan()), [section(results)], TITLE) + "\n" + COMMANDS


def main() -> None:
    """Write the page."""
    output = ROOT / "docs" / "decision_sparsity.md"
    output.write_text(page(), encoding="utf-8")
    print(f"written: {output}")


if __name__ == "__main__":
    main()
