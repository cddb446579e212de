"""The page of results, in Markdown and as one HTML file, written from the files of results."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import sev

from sev_reproduction import _registry
from sev_reproduction._paper import printed_figures
from sev_reproduction._plan import Plan
from sev_reproduction._section import Picture, Section, Table
from sev_reproduction._task import Results, Task

TITLE = "The paper, reproduced"


def write_page(
    modules: Sequence[Any], results: Results, plan: Plan, folder: Path, intro: list[str] | None = None
) -> tuple[Path, Path]:
    """Write ``reproduction.md`` with its pictures, ``reproduction.html`` and ``results.json``; return the pages."""
    sections = [module.section(results, printed_figures()) for module in modules]
    pictures = _draw_pictures(sections)
    images = folder / "images"
    if pictures:
        images.mkdir(parents=True, exist_ok=True)
    for name, content in pictures.items():
        (images / f"{name}.png").write_bytes(content)
    intro = [*introduction(results, plan), f"Computed with sev {sev.__version__}."] if intro is None else intro
    markdown = folder / "reproduction.md"
    markdown.write_text(as_markdown(intro, sections), encoding="utf-8")
    (folder / "results.json").write_text(results.compact(), encoding="utf-8")
    html = folder / "reproduction.html"
    html.write_text(as_html(intro, sections, pictures), encoding="utf-8")
    return markdown, html


def introduction(results: Results, plan: Plan) -> list[str]:
    """How the figures came about."""
    seconds = sum(one.seconds for one in results)
    rows = "all rows" if plan.max_train_rows is None else f"{plan.max_train_rows:,} rows"
    sentences = [
        "Written by `sev reproduce`. Beside each figure stands what the paper prints (“Sparse and Faithful "
        "Explanations Without Sparse Models”, AISTATS 2024).",
        "Splits are 80/20 and stratified. Numbers are standardised and texts one-hot encoded on the training part. The "
        "reference is the mean of numbers and the most common value of texts over the negatives of the training part.",
        f"Models are fitted on {rows} of the training part. Accuracy and AUC are on the whole test part. Explanations "
        f"are those of the positive predictions among at most {plan.max_test_rows:,} rows of it "
        f"({plan.max_network_rows:,} for networks), the same rows for every model of a split.",
        _proven(results, plan),
        f"{len(results):,} measurements, {seconds / 60:.0f} minutes of wall-clock time in all, on a machine that also "
        "did other work.",
    ]
    planned = _planned(plan)
    left = len(planned - {one.task for one in results})
    if left:
        sentences.append(
            f"{left:,} of {len(planned):,} planned measurements are not done yet: `sev reproduce` goes on with them. "
            "Every table says how many splits a figure is the mean of."
        )
    if not plan.quick:
        sentences.append(
            f"The plan has ten splits; Diabetes, ten times as large as the others, has {plan.diabetes_splits}."
        )
    if plan.quick:
        sentences.insert(1, "This is a quick run on samples: it shows that everything works, not what the figures are.")
    return sentences


def _planned(plan: Plan) -> set[Task]:
    """All measurements of the whole page, whatever part of it this run is about."""
    usual = Plan.of(quick=plan.quick)
    whole = replace(plan, data=usual.data, splits=usual.splits)
    return {task for module in _registry.chosen() for task in module.tasks(whole)}


def _proven(results: Results, plan: Plan) -> str:
    """How many explanations are not known to be the smallest."""
    found = [one.result for one in results]
    counted, open_ = (
        sum(value for result in found for name, value in result.items() if name.endswith(ending) and value)
        for ending in ("_queries", "_not_proven")
    )
    if not open_:
        return f"All {counted:,} explanations counted here are proven minimal."
    return f"{open_:,} of {counted:,} explanations ended at {plan.time_limit:g} s; all others are proven minimal."


def as_markdown(intro: list[str], sections: Sequence[Section], title: str = TITLE) -> str:
    """The page in Markdown; pictures are files beside it."""
    lines = [f"# {title}", "", *_paragraphs(intro)]
    for section in sections:
        lines += [f"## {section.heading}", "", *_paragraphs(section.sentences)]
        for table in section.tables:
            lines += [f"**{table.caption}**", "", *markdown_table(table), ""]
        for picture in section.pictures:
            lines += [f"![{picture.caption}](images/{picture.name}.png)", "", f"*{picture.caption}*", ""]
    return "\n".join(lines).rstrip() + "\n"


def as_html(intro: list[str], sections: Sequence[Section], pictures: dict[str, bytes], title: str = TITLE) -> str:
    """The page as one file that needs no other."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("sev_reproduction"), autoescape=True, trim_blocks=True)
    shown = {name: base64.b64encode(content).decode() for name, content in pictures.items()}
    return environment.get_template("page.html").render(
        title=title, intro=intro, sections=sections, pictures=shown, cells=cells
    )


def cells(frame: pd.DataFrame) -> list[list[str]]:
    """The cells of a table as text."""
    return [[_format_cell(value) for value in row] for row in frame.itertuples(index=False)]


def _format_cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def markdown_table(table: Table) -> list[str]:
    def line(values: Sequence[Any]) -> str:
        return "| " + " | ".join(str(value).replace("|", "\\|") for value in values) + " |"

    frame = table.frame
    return [line(frame.columns), line(["---"] * frame.shape[1]), *(line(row) for row in cells(frame))]


def _paragraphs(sentences: Sequence[str]) -> list[str]:
    return [line for sentence in sentences for line in (sentence, "")]


def _draw_pictures(sections: Sequence[Section]) -> dict[str, bytes]:
    pictures = [picture for section in sections for picture in section.pictures]
    if not pictures:
        return {}
    import matplotlib

    matplotlib.use("agg")
    return {picture.name: _png(picture) for picture in pictures}


def _png(picture: Picture) -> bytes:
    import matplotlib.pyplot as plt

    figure = picture.draw()
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return stream.getvalue()
