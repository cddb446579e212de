"""The summary of the paper's reproduction, from the recorded results: ``python docs/pages/reproduction.py``.

It needs the package of ``reproduction/``: ``pip install ./reproduction``.
"""

from __future__ import annotations

from pathlib import Path

from sev_reproduction import _page, causes, overview
from sev_reproduction._paper import printed_figures
from sev_reproduction._plan import Plan
from sev_reproduction._section import Section
from sev_reproduction._task import Results

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "reproduction" / "results.json"

COMMANDS = """## The full tables

All 54 tables and the pictures are written on demand. From the recorded figures, in seconds:

    pip install ./reproduction
    sev reproduce --recorded reproduction/results.json -o tables

Sections that show single queries (the distributions, the other methods, the examples) are computed anew, as is
everything else, by a run of about four hours on one core that can be stopped at any time and goes on where it was:

    SEV_DATA_HOME=data sev reproduce -o full
    SEV_DATA_HOME=data sev reproduce --quick -o quick    # minutes, on samples: shows that everything works

Both write `reproduction.md`, `reproduction.html` and their pictures into the folder.
"""


def page() -> str:
    """The summary: how it was measured, what holds of the paper, and what explains the rest."""
    results = Results.from_compact(RECORDED.read_text(encoding="utf-8"))
    tested = causes.section(results, printed_figures())
    nearest = [table for table in tested.tables if table.caption.startswith("The condition that brings")]
    sections = [
        overview.section(results, printed_figures()),
        Section(tested.heading, tested.sentences, nearest),
    ]
    return _page.as_markdown(_page.introduction(results, Plan()), sections) + "\n" + COMMANDS


def main() -> None:
    """Write the page."""
    output = ROOT / "docs" / "reproduction.md"
    output.write_text(page(), encoding="utf-8")
    print(f"written: {output}")


if __name__ == "__main__":
    main()
