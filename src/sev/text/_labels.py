"""What people call features, values and decisions: one dictionary, kept with the explainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sev.core import list_names, suggest_name
from sev.exceptions import InputError
from sev.text._language import Language, Wording, Words, is_built_in, load_language, load_wording, read_mapping
from sev.typing import ClassLabel, JSONObject, Parsed

_ENTRIES = ("features", "classes", "language")


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Names of features, units, values and decisions, for sentences, plots, reports and pages.

    Parameters
    ----------
    features : mapping, default={}
        For each feature its name for people, or a map with any of ``label``, ``unit``, ``digits``, ``values`` (a name
        for each value), ``is`` and ``been`` (a phrase with ``{label}`` and ``{value}``, or one for each value).
    classes : mapping, default={}
        For each class of the model the decision that it stands for, such as ``{"bad": "refused", "good": "approved"}``.
    language : str, path or mapping, default=None
        "en", "de" or "es"; a YAML file, or its content. None is English.

    Examples
    --------
    >>> import sev
    >>> debt = {"label": "the debt", "unit": "EUR"}
    >>> labels = sev.Labels(features={"x0": debt}, classes={0: "approved", 1: "refused"})
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
    >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
    >>> sev.Explainer(model, X, [0, 0, 0, 1, 1, 1], labels=labels).explain_one([5.0, 0.0]).to_text()
    'Refused (score 0.967, at least 0.5) because the debt is 5 EUR. Had the debt been 0 EUR, with all else equal, it
    would have been approved.'
    """

    features: Words = field(default_factory=dict)
    classes: Mapping[Any, str] = field(default_factory=dict)
    language: str | Path | Language | None = None

    def __post_init__(self) -> None:
        for name in ("features", "classes"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"Labels: {name} is {getattr(self, name)!r}, expected a mapping of names.")
        for value, text in self.classes.items():
            if not isinstance(text, str):
                raise InputError(f"Labels: classes[{value!r}] is {text!r}, expected text.")
        if self.language is not None and not is_built_in(self.language):
            load_language(self.language)  # a wrong language is an error now, not when the first sentence is made

    @classmethod
    def of(cls, labels: Labels | Words | str | Path | None) -> Labels:
        """Labels from what a user passed: labels, a mapping (``features``, ``classes``, ``language``) or a YAML file.

        Parameters
        ----------
        labels : Labels, mapping, path-like or None
            What a user passed as ``labels=``.

        Returns
        -------
        Labels
            Empty ones for None.

        Raises
        ------
        InputError
            If the file cannot be read, or an entry is unknown.

        Examples
        --------
        >>> import sev
        >>> sev.Labels.of({"classes": {1: "refused", 0: "granted"}}).decision(1)
        'refused'
        """
        if isinstance(labels, Labels):
            return labels
        if labels is None:
            return cls()
        if not isinstance(labels, (Mapping, str, Path)):
            raise InputError(f"labels is {labels!r}, expected sev.Labels, a mapping, or the path of a YAML file.")
        content = labels if isinstance(labels, Mapping) else read_mapping(labels, "labels")
        for name in content:
            if name not in _ENTRIES:
                raise InputError(
                    f"Labels have an unknown entry {name!r}: they take {', '.join(_ENTRIES)}. Names of features go "
                    "below features."
                )
        return cls(**content)

    def in_language(self, code: str) -> Labels:
        """The same names for sentences of another language.

        Phrases (``is``, ``been``) are parts of sentences of the labels' own language: those of the other one are
        used instead. Labels with texts of their own keep them.

        Parameters
        ----------
        code : str
            "en", "de" or "es".

        Returns
        -------
        Labels
            These, if they are in that language.

        Examples
        --------
        >>> import sev
        >>> debt = {"label": "the debt", "been": "there been debts of {value}"}
        >>> sev.Labels(features={"x0": debt}).in_language("de")
        Labels(features={'x0': {'label': 'the debt'}}, classes={}, language='de')
        """
        own = "en" if self.language is None else self.language
        if own == code or not is_built_in(own):
            return self
        features = {
            name: {entry: text for entry, text in one.items() if entry not in ("is", "been")}
            if isinstance(one, Mapping)
            else one
            for name, one in self.features.items()
        }
        return Labels(features=features, classes=self.classes, language=code)

    def wording(self, features: Mapping[str, object]) -> Wording:
        """The names of the features, checked against the features of the model.

        Parameters
        ----------
        features : mapping
            The features by name.

        Returns
        -------
        Wording
            How sentences call each feature and its values.

        Raises
        ------
        UnknownFeatureError
            If the labels name a feature that is not there.

        Examples
        --------
        >>> import sev
        >>> wording = sev.Labels(features={"age": "the age"}).wording({"age": None})
        """
        return load_wording(self.features or None, features)

    def check(self, features: Mapping[str, object], classes: Sequence[ClassLabel]) -> None:
        """Raise an error for names of features or classes that the model does not have.

        Parameters
        ----------
        features : mapping
            The features by name.
        classes : sequence
            The classes of the model.

        Raises
        ------
        InputError
            If a name is not one of the features or classes.

        Examples
        --------
        >>> import sev
        >>> sev.Labels(classes={1: "refused"}).check({"age": None}, [0, 1])
        """
        self.wording(features)
        for known in self.classes:
            if not any(_is_same_class(known, one) for one in classes):
                raise InputError(
                    f"Labels: classes names {known!r}, which is not a class of the model{suggest_name(known, classes)} "
                    f"Its classes are {list_names(classes)}."
                )

    def decision(self, value: object) -> str | None:
        """The decision that a class stands for; None where it has no name.

        Parameters
        ----------
        value : object
            A class of the model.

        Returns
        -------
        str or None
            Its name.

        Examples
        --------
        >>> import sev
        >>> sev.Labels(classes={1: "refused", 0: "granted"}).decision(0)
        'granted'
        """
        return next((text for known, text in self.classes.items() if _is_same_class(known, value)), None)

    def to_plain(self) -> JSONObject:
        """Plain values, ready for JSON or YAML; classes as pairs, because keys in JSON are strings.

        Returns
        -------
        dict
            Strings, numbers, lists and mappings.

        Examples
        --------
        >>> import sev
        >>> sev.Labels(classes={1: "refused"}, language="de").to_plain()
        {'features': {}, 'classes': [[1, 'refused']], 'language': 'de'}
        """
        language = self.language
        if language is not None and not isinstance(language, Mapping | str):
            language = str(language)
        if isinstance(language, str) and Path(language).suffix:
            language = dict(read_mapping(language, "language"))
        return {
            "features": {name: _to_plain(entry) for name, entry in self.features.items()},
            "classes": [[value, text] for value, text in self.classes.items()],
            "language": _to_plain(language),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Parsed]) -> Labels:
        """Inverse of :meth:`to_plain`.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_plain` returned.

        Returns
        -------
        Labels
            The same labels.

        Examples
        --------
        >>> import sev
        >>> labels = sev.Labels(classes={1: "refused"})
        >>> sev.Labels.from_plain(labels.to_plain()) == labels
        True
        """
        return cls(
            features={name: _from_plain(entry) for name, entry in plain["features"].items()},
            classes=dict(plain["classes"]),
            language=_from_plain(plain["language"]),
        )


def _is_same_class(known: object, value: object) -> bool:
    return isinstance(known, bool) == isinstance(value, bool) and bool(known == value)


def _to_plain(value: object) -> Parsed:
    """Mappings as pairs, so that keys that are not text survive."""
    if isinstance(value, Mapping):
        return {"pairs": [[key, _to_plain(entry)] for key, entry in value.items()]}
    return value


def _from_plain(value: Parsed) -> Parsed:
    if isinstance(value, Mapping):
        return {key: _from_plain(entry) for key, entry in value["pairs"]}
    return value
