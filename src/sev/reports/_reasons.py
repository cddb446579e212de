"""Reason codes for every decision: tables for notices and a record for each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sev._io import write_texts
from sev.core import warn_user
from sev.exceptions import HiddenReasonWarning, InputError, UnmappedReasonError
from sev.explanations import ExplainerLike, Explanations, Source
from sev.reports._checks import check_many
from sev.reports._codes import Codes, CodesLike, Direction, load_codes
from sev.reports._notebook_view import reasons_as_html
from sev.reports._notices import notices_of, write_notices
from sev.reports._ranking import Ranking, named_features, rank_features
from sev.reports._reason_tables import IN_RECORDS, Alone, Reason, long_table, wide_table
from sev.reports._records import Provenance, record
from sev.reports._spreadsheet import to_csv
from sev.text import Speaker
from sev.typing import ColumnLabel, FloatArray, IntArray, JSONObject


@dataclass(frozen=True, eq=False)
class Reasons:
    """The reasons of every decision, ranked and coded.

    Attributes
    ----------
    table : DataFrame
        One line for each reason: ``row``, ``id``, ``decision``, ``status``, ``score``, ``threshold``, ``rank``,
        ``feature``, ``label`` (what people call it), ``value``, ``reference_value``, ``code``, ``text``,
        ``score_alone`` (with this feature alone changed), ``score_after`` (with the first set changed), ``in_sets``,
        ``n_sets``, ``in_every_set``, ``alone`` (whether some permitted value of this feature alone changes the
        decision: a reason without it misleads whoever wants to act on it) and ``alone_share`` (of how many of its
        permitted values that is true). Of explanations with ``values="typical"`` or "any", ``reference_value`` is the
        value of the first set that uses the feature.
    wide : DataFrame
        One line for each row, whatever its status, with ``code_1``, ``text_1``, ``alone_1`` and so on.
    cut : tuple of tuple of str
        For each row, the features that its sets name and its reasons leave out, by rank.
    hidden : tuple of tuple of str
        For each row, the features that the unrestricted explanation names and the restricted one may not.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> codes = {name: {"code": f"R{place}", "text": f"The {name}"} for place, name in enumerate(X)}
    >>> found = sev.reasons(explainer.explain(X), codes)
    >>> found.table[["id", "rank", "feature", "code"]].head(3)
       id  rank feature code
    0   3     1    late   R1
    1   4     1    debt   R0
    2   5     1    debt   R0
    """

    table: pd.DataFrame
    wide: pd.DataFrame
    cut: tuple[tuple[str, ...], ...]
    hidden: tuple[tuple[str, ...], ...]
    _explanations: Explanations
    _provenance: Provenance

    def _repr_html_(self) -> str:
        return reasons_as_html(self.table, len(self.wide), self.hidden)

    def __repr__(self) -> str:
        explained = self.table["row"].nunique()
        return f"<Reasons of {len(self.wide):,} decisions: {len(self.table):,} reasons for {explained:,} of them>"

    def records(self) -> Iterator[JSONObject]:
        """One JSON record for each row, in order: the decision, its proof, its reasons, and where they come from.

        Yields
        ------
        dict
            Plain values, ready for JSON.

        Examples
        --------
        >>> [record["status"] for record in found.records()]
        ['not_target', 'not_target', 'not_target', 'optimal', 'optimal', 'optimal']
        """
        lines: list[list[JSONObject]] = [[] for _ in self.cut]
        plain = self.table[["row", *IN_RECORDS]].astype(object).where(self.table.notna(), None)
        for line in plain.to_dict("records"):
            lines[line.pop("row")].append(line)
        many = self._explanations
        speaker = Speaker(many.columns, labels=many.labels)
        rows = zip(many.statements(), lines, self.cut, self.hidden, strict=True)
        for row, (statement, some, cut, hidden) in enumerate(rows):
            yield record(many, row, speaker.proof(statement), some, cut, hidden, self._provenance)

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``reasons.csv``, ``reasons_wide.csv`` and ``records.jsonl``; the same bytes for the same decisions.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.

        Returns
        -------
        list of Path
            The files.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(path.name for path in found.save(folder))
        ['reasons.csv', 'reasons_wide.csv', 'records.jsonl']
        """
        folder = Path(folder)
        # all texts before the first file, so that a failure leaves no half of an answer behind
        lines = (json.dumps(one, ensure_ascii=False, allow_nan=False, sort_keys=True) for one in self.records())
        texts = {
            "reasons.csv": to_csv(self.table),
            "reasons_wide.csv": to_csv(self.wide),
            "records.jsonl": "".join(f"{line}\n" for line in lines),
        }
        return write_texts(folder, texts)

    def save_notices(
        self,
        folder: str | Path,
        template: str | Path,
        *,
        one_document: bool = False,
        rows: pd.DataFrame | None = None,
    ) -> list[Path]:
        """Fill in a template for each decision that has reasons, and write one file for each, or one for all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; the files are named by the ids of the decisions.
        template : path-like
            A Jinja template. It may use ``id``, ``decision``, ``other_decision``, ``score``, ``threshold``,
            ``sentence``, ``proof``, ``reasons`` (each with ``rank``, ``code``, ``text``, ``feature``, ``label``,
            ``value``, ``reference_value``, ``change`` (what it would have to be, and what it is now), ``alone`` and
            ``alone_share``) and ``row``, the cells of the row. One that ends in ``.html``,
            ``.htm`` or ``.xml`` has its values escaped.
        one_document : bool, default=False
            Fill the template in once, with the list ``notices`` of all of these.
        rows : DataFrame, default=None
            One row for each decision, for ``row``; None is what the model was given.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        InputError
            If the template cannot be read or filled in, or two decisions would have the same file name.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     template = pathlib.Path(folder, "notice.txt")
        ...     _ = template.write_text("Reasons:{% for reason in reasons %} {{ reason.text }};{% endfor %}")
        ...     paths = found.save_notices(f"{folder}/notices", template)
        ...     paths[0].read_text()
        'Reasons: The late;'
        """
        speaker = Speaker(self._explanations.columns, labels=self._explanations.labels, letters=True)
        notices = notices_of(self._explanations, self.table, speaker, rows)
        return write_notices(Path(folder), Path(template), notices, one_document=one_document)


def reasons(
    explanations: Explanations,
    codes: CodesLike,
    *,
    max_reasons: int = 4,
    explainer: ExplainerLike | None = None,
    hashes: Mapping[str, str] | None = None,
) -> Reasons:
    """Rank the features of each decision over all its minimum sets and give them codes.

    First come features that are in more of the sets, then those that, changed alone, take the score further. Features
    that share a code share a rank. With restricted explanations the rows are explained once more without restriction,
    and features that the restriction hides are warned about and recorded: a notice has to name them.

    Parameters
    ----------
    explanations : Explanations
        The decisions.
    codes : path or mapping
        For each feature its code and text; see :func:`load_codes`.
    max_reasons : int, default=4
        Largest number of codes for one decision; features that are left out are recorded.
    explainer : Explainer, default=None
        Needed only for explanations that were read from a file, which do not carry the model.
    hashes : mapping, default=None
        Your own hashes of ``model``, ``background`` or ``reference`` for the records, in place of those computed. For
        CatBoost pass one of the model: copies of the same model hold different bytes.

    Returns
    -------
    Reasons
        Tables of the reasons, and records of how they were found.

    Raises
    ------
    UnmappedReasonError
        When a feature that would appear has no code, before anything is written.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import sev
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
    >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
    >>> many = sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).explain([[5.0, 0.0]])
    >>> sev.reports.reasons(many, {"x0": {"code": "R1", "text": "Too much debt"}}).wide[["code_1", "text_1"]]
      code_1         text_1
    0     R1  Too much debt
    """
    check_many(explanations, "reasons")
    if not isinstance(max_reasons, int) or max_reasons < 1:
        raise InputError(f"max_reasons={max_reasons!r} must be an integer of at least 1.")
    source = explainer.source if explainer is not None else explanations.source
    if source is None:
        raise InputError("These explanations carry no model, which ranking needs for scores: pass explainer=.")
    loaded = load_codes(codes)
    ranking = rank_features(explanations, source)
    directions = _find_directions(explanations, ranking)
    chosen, cut = _choose_reasons(explanations, ranking, directions, loaded, max_reasons)
    hidden = _find_hidden(explanations, explainer)
    alone = _find_alone(explanations, chosen, source)
    return Reasons(
        table=long_table(explanations, ranking, chosen, alone),
        wide=wide_table(explanations, chosen, alone, cut, hidden, max_reasons),
        cut=cut,
        hidden=hidden,
        _explanations=explanations,
        _provenance=Provenance.of(explanations, source, max_reasons, hashes or {}),
    )


def reason_table(
    explanations: Explanations,
    codes: CodesLike,
    *,
    max_reasons: int = 4,
    explainer: ExplainerLike | None = None,
    hashes: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One line for each reason of each decision; see :func:`reasons`.

    Parameters
    ----------
    explanations : Explanations
        The decisions.
    codes : path or mapping
        As for :func:`reasons`.
    max_reasons, explainer, hashes
        As for :func:`reasons`.

    Returns
    -------
    DataFrame
        The attribute ``table`` of :class:`Reasons`.

    Raises
    ------
    UnmappedReasonError
        If a feature that would appear has no code.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> codes = {name: {"code": f"R{place}", "text": f"The {name}"} for place, name in enumerate(X)}
    >>> sev.reports.reason_table(explainer.explain(X), codes)["code"].tolist()
    ['R1', 'R0', 'R0', 'R1', 'R2']
    """
    return reasons(explanations, codes, max_reasons=max_reasons, explainer=explainer, hashes=hashes).table


def _find_directions(many: Explanations, ranking: Ranking) -> dict[tuple[int, int], Direction]:
    """How each value that matters stands to the reference's."""
    directions: dict[tuple[int, int], Direction] = {}
    for feature, columns in enumerate(many.columns.values()):
        rows = np.flatnonzero(ranking.in_sets[:, feature])
        donor = ranking.donor[rows, feature]
        compared = _compare_values(many, rows, donor, columns[0]) if len(columns) == 1 else np.zeros(len(rows))
        for row, sign in zip(rows.tolist(), compared.tolist(), strict=True):
            directions[row, feature] = "above" if sign > 0 else "below" if sign < 0 else "other"
    return directions


def _compare_values(many: Explanations, rows: IntArray, donor: IntArray, column: ColumnLabel) -> FloatArray:
    values, references = many.queries[column], many.references[column]
    if not all(pd.api.types.is_numeric_dtype(one.dtype) for one in (values, references)):
        return np.zeros(len(rows))
    mine = values.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    other = references.to_numpy(dtype=np.float64, na_value=np.nan)[donor]
    return np.nan_to_num(np.sign(mine - other))


def _choose_reasons(
    many: Explanations, ranking: Ranking, directions: dict[tuple[int, int], Direction], codes: Codes, most: int
) -> tuple[list[list[Reason]], tuple[tuple[str, ...], ...]]:
    """For each row the reasons that are given, and the features that are cut."""
    chosen: list[list[Reason]] = []
    cut: list[tuple[str, ...]] = []
    unmapped: Counter[tuple[str, Direction]] = Counter()
    names = many.feature_names
    counts = (ranking.in_sets > 0).sum(axis=1).tolist()
    for row, count in enumerate(counts):
        given: list[Reason] = []
        ranks: dict[str, int] = {}
        left: list[str] = []
        for feature in ranking.order[row, :count].tolist():
            direction = directions[row, feature]
            entry = codes.get(names[feature], direction)
            if entry is None:
                if len(ranks) < most:
                    unmapped[names[feature], direction] += 1
                left.append(names[feature])
            elif entry[0] in ranks or len(ranks) < most:
                given.append((ranks.setdefault(entry[0], len(ranks) + 1), feature, *entry))
            else:
                left.append(names[feature])
        chosen.append(given)
        cut.append(tuple(left))
    if unmapped:
        features = tuple(dict.fromkeys(name for (name, _), _ in unmapped.most_common()))
        raise UnmappedReasonError(_unmapped_message(unmapped, codes), features)
    return chosen, tuple(cut)


def _unmapped_message(unmapped: Counter[tuple[str, Direction]], codes: Codes) -> str:
    where = {"above": " above the reference", "below": " below the reference", "other": ""}
    listed = []
    for (name, direction), count in unmapped.most_common():
        has_directions = direction == "other" and (codes.get(name, "above") or codes.get(name, "below"))
        place = " neither above nor below the reference, as a missing value: give a text" if has_directions else ""
        listed.append(f"{name!r}{place or where[direction]} ({count} {'row' if count == 1 else 'rows'})")
    return f"These would be reasons but have no code: {', '.join(listed)}. Add them to the map; nothing was written."


def _find_hidden(many: Explanations, explainer: ExplainerLike | None) -> tuple[tuple[str, ...], ...]:
    """Features that a row's unrestricted sets name and its restriction leaves out."""
    if not many.restricted:
        return ((),) * len(many)
    named = named_features(many.unrestricted(explainer))
    restricted = [place for place, name in enumerate(many.feature_names) if name in many.restricted]
    hidden = tuple(tuple(many.feature_names[place] for place in restricted if row[place]) for row in named)
    counts = Counter(name for names in hidden for name in names)
    if counts:
        listed = ", ".join(f"{name!r} ({count})" for name, count in counts.most_common())
        warn_user(
            f"In {sum(map(bool, hidden))} of {len(many)} rows the restriction hides features that the unrestricted "
            f"explanation names: {listed}. A notice of reasons must not leave them out: restricted explanations tell "
            "what can be changed, not why a decision was made.",
            HiddenReasonWarning,
        )
    return hidden


def _find_alone(many: Explanations, chosen: list[list[Reason]], source: Source) -> dict[tuple[int, int], Alone]:
    """What the features of reasons could do alone; nothing where it is not known, as for "plus"."""
    usable = np.zeros((len(many), len(many.feature_names)), dtype=np.bool_)
    for row, given in enumerate(chosen):
        usable[row, [feature for _, feature, _, _ in given]] = True
    if many.kind == "plus" or not usable.any():
        return {}
    number = np.where(usable.any(axis=1), many.answers.target, -1)
    found = source.alone(many.queries, number, usable)
    if found is None:
        return {}
    places = {name: place for place, name in enumerate(many.feature_names)}
    return {
        (int(line["place"]), places[line["feature"]]): (bool(line["works"]), float(line["share"]))
        for line in found.to_dict("records")
    }
