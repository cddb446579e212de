"""The page as one piece: its modules joined into one, for files and notebooks. No tool to install, nothing to build."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from sev.exceptions import SevError

_IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"\./([\w./-]+\.js)";[ \t]*$', re.MULTILINE)
_EXPORT = re.compile(r"^export\s+((?:async\s+)?function\*?|class|const)\s+([A-Za-z_$][\w$]*)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$|\bimport\s*\(", re.MULTILINE)


class PageError(SevError):
    """A module of the page does not keep the rules that let modules be joined."""


def page_file(name: str) -> str:
    """A text file of the page."""
    return files("sev.app").joinpath(f"page/{name}").read_text("utf-8")


@cache
def join_modules(entry: str) -> str:
    """A module with all that it imports, as one script without imports.

    Each module becomes a function that returns what it exports, called once, after those that it imports.

    Parameters
    ----------
    entry : str
        File of the page, such as ``"file.js"``.

    Returns
    -------
    str
        A script; the exports of the entry are in the constant ``$entry``.
    """
    order: list[str] = []
    _visit(entry, order, ())
    parts = [_as_function(name, order) for name in order]
    return "\n".join([*parts, f"const $entry = {_constant(entry, order)};"]) + "\n"


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise PageError(f"Modules of the page import each other in a circle: {' -> '.join((*above, name))}.")
    if name in order:
        return
    for _, imported in _IMPORT.findall(page_file(name)):
        _visit(_resolved(name, imported), order, (*above, name))
    order.append(name)


def _resolved(name: str, imported: str) -> str:
    folder = name.rpartition("/")[0]
    return f"{folder}/{imported}" if folder else imported


def _constant(name: str, order: list[str]) -> str:
    return f"$module{order.index(name)}"


def _as_function(name: str, order: list[str]) -> str:
    text = page_file(name)

    def bind(match: re.Match[str]) -> str:
        names, imported = match.groups()
        if names is None:
            return ""
        pairs = [" ".join(one.split()).split(" as ") for one in names.split(",") if one.strip()]
        bound = ", ".join(one[0] if len(one) == 1 else f"{one[0]}: {one[1]}" for one in pairs)
        return f"const {{ {bound} }} = {_constant(_resolved(name, imported), order)};"

    exports = [match[1] for match in _EXPORT.findall(text)]
    body = _EXPORT.sub(lambda match: f"{match[1]} {match[2]}", _IMPORT.sub(bind, text))
    left = _OTHER.search(body)
    if left is not None:
        raise PageError(f"{name} has a line that cannot be joined: {left[0]!r}. See CONTRACT.md for what is allowed.")
    return f"const {_constant(name, order)} = (() => {{\n{body}\nreturn {{ {', '.join(exports)} }};\n}})();"


@cache
def page_texts() -> dict[str, dict[str, Any]]:
    """The texts of the page in every language."""
    folder = files("sev.app").joinpath("page/languages")
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".json"))
    return {name.removesuffix(".json"): json.loads(page_file(f"languages/{name}")) for name in names}


@cache
def page_styles() -> str:
    """The style sheets of the page."""
    folder = files("sev.app").joinpath("page")
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".css"))
    return "\n".join(page_file(name) for name in names)


def one_file(document: dict[str, Any], language: str, title: str) -> str:
    """A page that holds its data and asks no network for anything.

    Parameters
    ----------
    document : dict
        Plain values of a ``ScenariosDocument``.
    language : str
        Code of the language.
    title : str
        Title of the page.
    """
    import html

    texts = page_texts()
    language = language if language in texts else "en"
    script = join_modules("file.js")
    if "</script" in script.lower() or "<!--" in script:
        raise PageError("A module of the page contains </script, which would end the script inside the file.")
    style = page_styles()
    data = {"document": document, "texts": {language: texts[language], "en": texts["en"]}, "language": language}
    return _FILE.format(
        language=html.escape(language),
        title=html.escape(title),
        policy=html.escape(
            f"default-src 'none'; script-src {_hash_of(script)}; style-src {_hash_of(style)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        style=style,
        data=_inline_json(data),
        script=script,
    )


def _hash_of(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _inline_json(data: Any) -> str:
    """JSON that cannot end the element that it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


_FILE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="sev"></div>
<script type="application/json" id="sev-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""
