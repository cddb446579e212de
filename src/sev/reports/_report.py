"""One HTML file that a person opens from disk."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numpy as np

from sev._io import write_file
from sev.core import Status, __version__
from sev.exceptions import InputError
from sev.explanations import ExplainerLike, Explanations, Groups
from sev.reports._checks import check_many
from sev.reports._data import embedded, row_label, table_data
from sev.reports._overview import overview
from sev.reports._pages import page_of, representative_rows
from sev.text import Language, Speaker, Words
from sev.typing import JSONObject


def report(
    explanations: Explanations,
    path: str | Path,
    *,
    title: str | None = None,
    decisions: Iterable[int] | None = None,
    wording: str | Path | Words | None = None,
    language: str | Path | Language | None = None,
    explainer: ExplainerLike | None = None,
    by: Groups | None = None,
) -> Path:
    """Write a batch of explanations as one self-contained HTML file.

    It holds a summary; the distribution of sizes; how often each feature explains; the permitted changes and the
    decisions that none of them undoes, by group with ``by``; the decisions without a reason; the reference; a table of
    all decisions that can be searched and sorted; and a page for each chosen decision. It needs no network, opens from
    disk and can be printed.

    Parameters
    ----------
    explanations : Explanations
        The decisions.
    path : path-like
        The file to write.
    title : str, default=None
        Its heading; None is "Reasons for decisions" in the report's language.
    decisions : iterable of int, default=None
        Places of the decisions that get a page of their own; None takes twelve that differ.
    wording, language : str, path or mapping, default=None
        As for :meth:`sev.Explanation.to_text`: ``language="de"`` writes German.
    explainer : Explainer, default=None
        Needed only for explanations that were read from a file, so that the summary can name the model.
    by : column, or array-like of shape (n_rows,), default=None
        Groups for the table of decisions that no permitted change undoes: a column of the rows, or one value for each
        row.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the folder of ``path`` does not exist, or ``decisions`` or ``by`` do not fit the rows.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sev.report(explainer.explain(X), f"{folder}/refusals.html", title="Refused applicants").name
    'refusals.html'
    """
    check_many(explanations, "report")
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"The folder {str(target.parent)!r} does not exist: create it first.")
    chosen = representative_rows(explanations, 12) if decisions is None else _check_decisions(explanations, decisions)
    speaker = Speaker(explanations.columns, wording, language, explanations.labels)
    text = render(explanations, title, chosen, speaker, explainer, by)
    write_file(target, text.encode("utf-8"))
    return target


def render(
    many: Explanations,
    title: str | None,
    chosen: list[int],
    speaker: Speaker,
    explainer: ExplainerLike | None = None,
    by: Groups | None = None,
) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    sentences = [speaker.sentence(statement) for statement in many.statements()]
    source = explainer.source if explainer is not None else many.source
    labels = [speaker.label(name) for name in many.feature_names]
    data, form = embedded(table_data(many, labels, sentences, chosen) | _texts_of_table(speaker))
    script = _read_template("report.js")
    environment = Environment(
        loader=PackageLoader("sev.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja").render(
        **overview(many, sentences, speaker, source.about() if source is not None else None, by),
        t=speaker.text,
        title=speaker.text("report_title") if title is None else title,
        lang=speaker.language,
        failed=speaker.raw("report_table_failed"),
        version=__version__,
        pages=[page_of(many[row], row, row_label(many.index[row]), speaker) for row in chosen],
        # these are ours or made safe above: nothing of the user's is marked as markup
        css=Markup(_read_template("report.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        data=Markup(data),
        data_form=form,
    )


#: Texts that the table's script fills in.
_IN_SCRIPT = ("rows_shown", "rows_among", "no_match", "page_of")


def _texts_of_table(speaker: Speaker) -> JSONObject:
    return {
        "names": [speaker.text(f"status_{status}") for status in Status],
        "texts": {name: speaker.raw(f"report_{name}") for name in _IN_SCRIPT} | {"decimal": speaker.raw("decimal")},
    }


def _read_template(name: str) -> str:
    return files("sev.reports").joinpath("templates", name).read_text("utf-8")


def _check_decisions(many: Explanations, decisions: Iterable[int]) -> list[int]:
    chosen = []
    for row in decisions:
        if not isinstance(row, (int, np.integer)) or not -len(many) <= row < len(many):
            raise InputError(f"decisions names row {row!r}, but there are {len(many)} rows, numbered from 0.")
        chosen.append(range(len(many))[row])
    return list(dict.fromkeys(chosen))
