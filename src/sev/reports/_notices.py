"""Notices to the people concerned: a template, filled in for each decision that has reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sev._io import write_texts
from sev.core import list_names, plain_value
from sev.exceptions import InputError
from sev.explanations import Explanations
from sev.reports._data import row_label
from sev.reports._ranking import donor_rows, enough_of_feature
from sev.reports._records import decision_after, decision_of
from sev.text import Speaker
from sev.typing import Parsed

if TYPE_CHECKING:
    from jinja2 import Template

_MARKUP = (".html", ".htm", ".xml")
_TEMPLATE_ENDINGS = (".jinja", ".jinja2", ".j2")
_MOST_LETTERS = 100


def notices_of(
    many: Explanations, table: pd.DataFrame, speaker: Speaker, rows: pd.DataFrame | None
) -> list[dict[str, object]]:
    """What a template is filled in with, for each decision that has a reason.

    Parameters
    ----------
    many : Explanations
        The decisions.
    table : DataFrame
        Their reasons, as in :class:`Reasons`.
    speaker : Speaker
        Names, values and sentences.
    rows : DataFrame or None
        The cells of each decision; None is what the model was given.
    """
    if rows is not None and len(rows) != len(many):
        raise InputError(
            f"rows has {len(rows)} rows, but there are {len(many)} decisions: pass one row for each, in their order."
        )
    cells = many.queries if rows is None else rows
    reasons: dict[int, list[dict[str, Parsed]]] = {}
    for line in table.to_dict("records"):
        reasons.setdefault(int(line["row"]), []).append({str(name): value for name, value in line.items()})
    statements = list(many.statements())
    notices: list[dict[str, object]] = []
    donors = donor_rows(many)
    names = {name: place for place, name in enumerate(many.feature_names)}
    for row in reasons:
        statement = statements[row]
        notices.append(
            {
                "id": row_label(many.index[row]),
                "decision": decision_of(many, row),
                "other_decision": decision_after(many, row) or "",
                "score": float(statement.score),
                "threshold": float(statement.threshold),
                "sentence": speaker.sentence(statement),
                "proof": speaker.proof(statement, beside_sentence=True),
                "row": {str(column): plain_value(cells.iloc[row][column]) for column in cells.columns},
                "reasons": [
                    _make_reason(many, row, line, speaker, int(donors[row, names[line["feature"]]]))
                    for line in reasons[row]
                ],
            }
        )
    return notices


def _make_reason(
    many: Explanations, row: int, line: Mapping[str, Parsed], speaker: Speaker, donor: int
) -> dict[str, object]:
    """One reason as a template has it."""
    feature, query, changed = line["feature"], many.queries.iloc[row], many.references.iloc[donor]
    enough = enough_of_feature(many, row, feature)
    old, new = (query, changed) if many.kind == "minus" else (changed, query)
    return {
        **{name: line[name] for name in ("rank", "code", "text", "feature", "label", "alone", "alone_share")},
        "value": speaker.value(feature, query),
        "reference_value": speaker.value(feature, changed),
        "change": speaker.change(feature, old, new, enough, many.limits),
    }


def write_notices(
    folder: Path, template: Path, notices: Sequence[Mapping[str, object]], *, one_document: bool
) -> list[Path]:
    """Fill a template in and write what comes out; nothing is written unless all of it can be filled in."""
    ending = _choose_ending(template)
    filled = _load_template(template)
    texts: dict[str, str] = {}
    if one_document:
        texts[f"notices{ending}"] = _fill_template(filled, template, {"notices": list(notices)}, "all decisions")
    else:
        names = _file_names([str(notice["id"]) for notice in notices])
        for name, notice in zip(names, notices, strict=True):
            texts[f"{name}{ending}"] = _fill_template(filled, template, notice, f"decision {notice['id']}")
    return write_texts(folder, texts)


def _choose_ending(template: Path) -> str:
    """Of the files: that of the template, without the one that only marks it as a template."""
    suffixes = [suffix for suffix in template.suffixes if suffix.lower() not in _TEMPLATE_ENDINGS]
    return suffixes[-1] if suffixes else ".txt"


def _load_template(template: Path) -> Template:
    from jinja2 import StrictUndefined, TemplateSyntaxError
    from jinja2.sandbox import SandboxedEnvironment

    try:
        source = template.read_text("utf-8")
    except OSError as error:
        raise InputError(f"The template {str(template)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The template {str(template)!r} is not UTF-8 text.") from error
    environment = SandboxedEnvironment(
        autoescape=_choose_ending(template).lower() in _MARKUP,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    try:
        return environment.from_string(source)
    except TemplateSyntaxError as error:
        raise InputError(f"The template {str(template)!r}, line {error.lineno}: {error.message}.") from error


def _fill_template(filled: Template, template: Path, values: Mapping[str, object], what: str) -> str:
    try:
        return str(filled.render(values))
    except Exception as error:  # an expression of the template may do whatever Python does
        raise InputError(
            f"The template {str(template)!r} cannot be filled in for {what}: {error}. It may use {list_names(values)}; "
            "nothing was written."
        ) from error


def _file_names(ids: Sequence[str]) -> Iterator[str]:
    """A name for each id that every file system takes, no two the same whatever the case of their letters."""
    used: set[str] = set()
    for one in ids:
        base = re.sub(r"[^\w.-]+", "_", one)[:_MOST_LETTERS].strip("._") or "notice"
        if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", base):
            base = f"_{base}"  # names of devices on Windows
        name, number = base, 1
        while name.casefold() in used:
            number += 1
            name = f"{base}-{number}"
        used.add(name.casefold())
        yield name
