"""The table of all decisions, as the page holds it: compact, and unable to end its own script element."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence

import numpy as np

from sev.core import Status, plain_value
from sev.explanations import Explanations
from sev.typing import FloatArray, JSONObject

#: Texts shorter than this stay plain JSON; longer ones are packed.
PLAIN_BELOW = 500_000


def table_data(many: Explanations, labels: Sequence[str], sentences: Sequence[str], pages: Sequence[int]) -> JSONObject:
    """Columns of the table, one entry a row.

    Parameters
    ----------
    many : Explanations
        The decisions.
    labels : sequence of str
        What people call each feature.
    sentences : sequence of str
        One for each decision.
    pages : sequence of int
        Rows that have a page of their own.
    """
    numbers = {name: place for place, name in enumerate(many.feature_names)}
    return {
        "id": [row_label(label) for label in many.index],
        "statuses": [str(status) for status in Status],
        "status": many.answers.status.tolist(),
        "size": [None if np.isnan(size) else int(size) for size in many.sizes],
        "score": [_round_score(score) for score in shown_scores(many)[0].tolist()],
        "after": [_round_score(score) for score in shown_scores(many)[1].tolist()],
        "credibility": [_round_score(share) for share in many.credibilities.tolist()],
        "features": list(labels),
        "sets": [[numbers[name] for name in names] for names in many.first_sets()],
        "text": list(sentences),
        "pages": list(pages),
    }


def shown_scores(many: Explanations) -> tuple[FloatArray, FloatArray]:
    """Scores before and after the change, as people are shown them: of the class itself, not its lead over others."""
    if many.class_scores is not None:
        return many.class_scores.before, many.class_scores.after
    return many.scores, many.result_scores


def embedded(data: JSONObject) -> tuple[str, str]:
    """The data as text that can stand inside a script element, and the form it is in: "json" or "gzip"."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(text) < PLAIN_BELOW:
        return script_safe(text), "json"
    return base64.b64encode(gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0)).decode("ascii"), "gzip"


def script_safe(text: str) -> str:
    r"""JSON without the letters that could open or close an element; the same when it is read.

    Examples
    --------
    >>> from sev.reports._data import script_safe
    >>> print(script_safe('["</script>"]'))
    ["\u003c/script\u003e"]
    """
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return text.translate({ord(letter): escape for letter, escape in escapes.items()})


def row_label(label: object) -> int | float | str:
    """The label of a row as a number or text; labels of several levels become one text."""
    if isinstance(label, tuple):
        return ", ".join(str(part) for part in label)
    plain = plain_value(label)
    return plain if isinstance(plain, (int, float, str)) and not isinstance(plain, bool) else str(label)


def _round_score(score: float) -> float | None:
    return float(f"{score:.4g}") if np.isfinite(score) else None
