"""The words of a language, and the wording of features, as users may give them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from sev.core import suggest_name
from sev.exceptions import InputError, UnknownFeatureError
from sev.typing import Parsed

if TYPE_CHECKING:
    from yaml import MappingNode, SafeLoader


#: Texts and templates by name.
Language: TypeAlias = Mapping[str, Parsed]
#: Words for features as users write them, in a mapping or a YAML file: a text, or a mapping of texts for each.
Words: TypeAlias = Mapping[str, Parsed]
#: What is said of each feature.
Wording: TypeAlias = Mapping[str, Words]

_FIELDS = (
    *("target", "score", "threshold", "label", "value", "predicted", "otherwise", "reasons", "changes"),
    *("decision", "other", "what", "more", "first", "last", "version", "without", "restricted", "reason", "n"),
    *("share", "reference"),
)
_BY_CLASS = ("predicted", "otherwise", "not_predicted", "letter_predicted")
_OF_A_FEATURE = ("label", "unit", "digits", "values", "is", "been")


#: The languages that come with the package.
LANGUAGES = ("en", "de", "es")


@cache
def built_in(code: str) -> dict[str, Parsed]:
    """One of the languages that come with the package."""
    return parse_mapping(
        files("sev.text").joinpath(f"languages/{code}.yaml").read_text("utf-8"), f"the texts of {code!r}"
    )


def english() -> dict[str, Parsed]:
    """The language that every other one is compared with."""
    return built_in("en")


def load_language(language: str | Path | Language | None) -> Language:
    """A complete language: English, with what the user's file or mapping sets put over it.

    Parameters
    ----------
    language : path, mapping or None
        "en", "de" or "es"; a YAML file, or its content. None is English.

    Returns
    -------
    Language
        Every text of the language.

    Raises
    ------
    InputError
        If the file cannot be read, or has a text that is not known.
    """
    if language is None or is_built_in(language):
        return built_in(language or "en")
    if isinstance(language, str) and not Path(language).suffix and not Path(language).exists():
        raise InputError(
            f"There is no language {language!r}. Use one of {list(LANGUAGES)}, or a YAML file of your own."
        )
    own = language if isinstance(language, Mapping) else read_mapping(language, "language")
    for name, text in own.items():
        if name not in english():
            raise InputError(f"The language has an unknown text {name!r}{suggest_name(name, english())}")
        _check_text(name, text)
    return {**english(), **own}


def is_built_in(language: str | Path | Language) -> TypeGuard[str]:
    """Whether a language ships with the package, so that there is nothing to check about it."""
    return isinstance(language, str) and language in LANGUAGES


def overridden(language: str | Path | Language | None) -> frozenset[str]:
    """The texts that a user's own language sets."""
    if language is None or is_built_in(language):
        return frozenset()
    return frozenset(language if isinstance(language, Mapping) else read_mapping(language, "language"))


def load_wording(wording: str | Path | Words | None, features: Mapping[str, object]) -> Wording:
    """How sentences name each feature, checked against the features of the model.

    Parameters
    ----------
    wording : path, mapping or None
        For each feature its name for people, or a map with any of ``label``, ``unit``, ``digits``, ``values`` (a word
        for each value), ``is`` and ``been`` (a phrase, or one for each value).
    features : mapping
        The features by name.

    Returns
    -------
    Wording
        Names of features and values.

    Raises
    ------
    UnknownFeatureError
        If a feature is named that is not there.
    InputError
        If the file cannot be read, or an entry is unknown.
    """
    if wording is None:
        return {}
    own = wording if isinstance(wording, Mapping) else read_mapping(wording, "wording")
    loaded = {}
    for feature, said in own.items():
        if feature not in features:
            raise UnknownFeatureError(
                f"The labels name {feature!r}, which is not a feature{suggest_name(feature, features)}"
            )
        loaded[feature] = {"label": said} if isinstance(said, str) else said
        _check_feature(feature, loaded[feature])
    return loaded


def read_mapping(path: str | Path, what: str) -> dict[str, Parsed]:
    """Read a YAML file that holds a map.

    Parameters
    ----------
    path : path-like
        The file.
    what : str
        What it is, for messages.

    Returns
    -------
    dict of str to object
        The content.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8 or YAML, or holds something else than a map.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise InputError(f"The {what} file {str(path)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The {what} file {str(path)!r} is not UTF-8 text.") from error
    return parse_mapping(text, f"the {what} file {str(path)!r}")


def parse_mapping(text: str, what: str) -> dict[str, Parsed]:
    """A map from YAML text; ``what`` it is, for messages.

    Parameters
    ----------
    text : str
        YAML.
    what : str
        What it is, for messages.

    Returns
    -------
    dict of str to object
        The content.

    Raises
    ------
    InputError
        If it is not YAML, or holds something else than a map.
    """
    import yaml

    try:
        content = yaml.load(text, Loader=_unique_keys_loader())
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{what[0].upper()}{what[1:]} is not YAML: {error}.") from error
    if not isinstance(content, dict):
        raise InputError(f"{what[0].upper()}{what[1:]} holds {type(content).__name__}, expected a map of names.")
    return content


@cache
def _unique_keys_loader() -> type[SafeLoader]:
    """A safe loader that takes no key twice, where YAML's own would silently keep the last.

    Only ``true`` and ``false`` are booleans, as in YAML 1.2: classes and categories called ``yes`` and ``no`` are text.
    """
    import re

    import yaml

    class UniqueKeys(yaml.SafeLoader):
        def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Parsed]:
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if key in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key!r} occurs twice", key_node.start_mark)
                seen.add(key)
            return super().construct_mapping(node, deep)

    UniqueKeys.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:bool"]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    UniqueKeys.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
    )
    return UniqueKeys


def _check_text(name: str, text: object) -> None:
    texts = list(text.values()) if isinstance(text, Mapping) and name in _BY_CLASS else [text]
    for one in texts:
        _check_template(one, f"The text {name!r}")


def _check_feature(feature: str, said: object) -> None:
    if not isinstance(said, Mapping):
        raise InputError(f"wording[{feature!r}] is {said!r}: give a name, or a map with {list(_OF_A_FEATURE)}.")
    for name in said:
        if name not in _OF_A_FEATURE:
            raise InputError(f"wording[{feature!r}] has an unknown entry {name!r}{suggest_name(name, _OF_A_FEATURE)}")
    for name in ("is", "been"):
        phrases = said.get(name, "")
        for one in phrases.values() if isinstance(phrases, Mapping) else [phrases]:
            _check_template(one, f"wording[{feature!r}][{name!r}]")


def _check_template(text: object, what: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"{what} is {text!r}, expected text.")
    try:
        text.format_map(dict.fromkeys(_FIELDS, ""))
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        raise InputError(
            f"{what}, {text!r}, cannot be filled in ({error}): it may use {_brace_names(_FIELDS)}."
        ) from error


def _brace_names(names: tuple[str, ...]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
