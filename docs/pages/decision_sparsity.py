"""The summary of the follow-up's reproduction, from the recorded results: ``python docs/pages/decision_sparsity.py``.

It needs the package of ``reproduction/``: ``pip install ./reproduction``.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from folded import folded
from sev_reproduction._page import markdown_table
from sev_reproduction._task import Results
from sev_reproduction.decision_sparsity import follow_up_plan
from sev_reproduction.decision_sparsity._page import TITLE, introduction
from sev_reproduction.decision_sparsity._short import section

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "reproduction" / "decision_sparsity.json"

HEAD = """
The variants of "Improving Decision Sparsity" (Sun, Wang, Rudin; NeurIPS 2024), each computed exactly, compared
with one reference. `docs/pages/decision_sparsity.py` writes this page from recorded measurements.

## What holds

"""

COMMANDS = """
## The full tables

Every table by data set and base model is written on demand; a run that was stopped continues.

```sh
pip install ./reproduction
SEV_DATA_HOME=data sev reproduce decision-sparsity -o follow-up     # --splits 0-2, --data fico: a part of it
sev reproduce decision-sparsity --quick --data german -o quick      # two minutes, on samples
```
"""
OTHERS = (
    "MIMIC-III takes part with your own copy (`--mimic`), NICE where it is installed (`pip install --no-deps NICEx`)."
)
#: Tables that a reader opens; the others are shown.
FOLDED = ("Median largest change", "SEV- of models")


def page() -> str:
    """The summary: what holds, its tables, and how it was measured."""
    results = Results.from_compact(RECORDED.read_text(encoding="utf-8"))
    short = section(results)
    written, *measured = introduction(results, follow_up_plan())
    measured += [written.partition("exactly. ")[2], OTHERS]
    tables = []
    for table in short.tables:
        shown = "\n".join(markdown_table(table)) + "\n"
        is_folded = table.caption.startswith(FOLDED)
        tables.append(folded(table.caption, shown) if is_folded else f"**{table.caption}**\n\n{shown}")
    parts = [
        f"# {TITLE}\n{HEAD}",
        *(fill(f"- {one}", 120, subsequent_indent="  ", break_on_hyphens=False) + "\n" for one in short.sentences),
        *(f"\n{one}" for one in tables),
        "\n",
        folded(
            "How it was measured, and on how many splits",
            "\n\n".join(fill(one, 120, break_on_hyphens=False) for one in measured),
        ),
        COMMANDS,
    ]
    return "".join(parts)


def main() -> None:
    """Write the page."""
    output = ROOT / "docs" / "decision_sparsity.md"
    output.write_text(page(), encoding="utf-8")
    print(f"written: {output}")


if __name__ == "__main__":
    main()
