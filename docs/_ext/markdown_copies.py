"""Copies of the pages as Markdown, and ``llms.txt`` that lists them: for programs that read documentation.

Pages are copied as they are written, save that the API has signatures and docstrings in place of the directives, and
that each example is its script.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any

HEAD = """\
# sev

> The smallest set of reasons for every decision of a tabular model: exact, proven minimal, checked.

Every page below is Markdown. `pip install .` in a checkout installs the package.

## Pages

"""
_DIRECTIVE = re.compile(
    r"```\{eval-rst\}\n\.\. auto(?P<kind>\w+):: (?P<name>[\w.]+)\n(?P<options>(?:   :.*\n)*)```\n", re.M
)
#: Classes that explainers return; nobody calls them.
MADE_BY_THE_LIBRARY = ("Explanation", "Explanations")
_INCLUDE = re.compile(r"```\{include\} (?P<file>\S+)\n(?P<options>(?::.*\n)*)```\n")


def expand_include(match: re.Match[str], page: Path) -> str:
    """The part of another file that a page includes."""
    text = (page.parent / match["file"]).read_text(encoding="utf-8")
    options = dict(re.findall(r':([\w-]+): "(.*)"', match["options"]))
    text = (
        text[text.index(options["start-after"]) + len(options["start-after"]) :] if "start-after" in options else text
    )
    return (text[: text.index(options["end-before"])] if "end-before" in options else text).strip("\n") + "\n"


def title_and_summary(text: str) -> tuple[str, str]:
    """The first heading of a page, and the first sentence after it."""
    text = re.sub(r"^(```|:::).*?^\1$", "", text, flags=re.S | re.M)  # code, and boxes of the theme
    title = re.search(r"^# (.+)$", text, re.M)
    after = text[title.end() :] if title else text
    paragraphs = [part.strip() for part in after.split("\n\n")]
    plain = next((part for part in paragraphs if part and part[0] not in ":!|#<-{"), "")
    sentence = re.match(r"(.+?[.?!])(?:\s|$)", " ".join(plain.split()))
    return (title.group(1) if title else ""), (sentence.group(1) if sentence else plain.rstrip(":"))


def find_object(name: str) -> Any:
    """The object of a dotted name, through packages and attributes."""
    found: Any = import_module("sev")
    for part in name.split(".")[1:]:
        found = getattr(found, part) if hasattr(found, part) else import_module(f"{found.__name__}.{part}")
    return found


def describe(name: str, one: Any, level: str) -> Iterator[str]:
    """A signature and a docstring; of a class, also those of its public methods and properties."""
    if not (inspect.isclass(one) or inspect.isroutine(one)):  # a constant or an alias has no docstring of its own
        yield f"{level} {name}\n\n```python\n{shorten(repr(one), 200, placeholder=' ...')}\n```\n"
        return
    yield f"{level} {name}\n\n```python\n{name}{signature_of(one)}\n```\n"
    yield f"```text\n{inspect.getdoc(one) or ''}\n```\n"
    if inspect.isclass(one):
        for key in sorted(key for key in dir(one) if not key.startswith("_")):
            member = inspect.getattr_static(one, key)
            if isinstance(member, property | cached_property):
                yield f"{level}# {name}.{key}\n\n```text\n{inspect.getdoc(member) or ''}\n```\n"
                continue
            routine = getattr(one, key)
            if inspect.isroutine(routine) and str(getattr(routine, "__module__", "")).startswith("sev"):
                yield from describe(f"{name}.{key}", routine, level + "#")


def signature_of(one: Any) -> str:
    """The parameters of a function or class; empty for classes that only the library itself makes."""
    try:
        found = inspect.signature(one)
    except (TypeError, ValueError):  # made in C, or an alias of types
        return ""
    if inspect.isclass(one) and one.__qualname__ in MADE_BY_THE_LIBRARY:
        return ""
    return str(found).replace("'", "")


def hide_signature(
    app: Any, what: str, name: str, one: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """For autodoc: no parameters of classes that only the library itself makes."""
    is_hidden = what == "class" and getattr(one, "__qualname__", "") in MADE_BY_THE_LIBRARY
    return ("" if is_hidden else signature), returned


def expand_directive(match: re.Match[str]) -> str:
    """What autodoc puts in the place of one directive, as Markdown."""
    name, one = match["name"], find_object(match["name"])
    if match["kind"] != "module":
        return "\n".join(describe(name, one, "###")) + "\n"
    left_out = re.findall(r"\w+", (re.search(r":exclude-members:(.*)", match["options"]) or ["", ""])[1])
    parts = [f"```text\n{inspect.getdoc(one) or ''}\n```\n"]
    if ":members:" in match["options"]:
        own = [key for key, member in vars(one).items() if getattr(member, "__module__", "") == name and key[0] != "_"]
        for key in sorted(set(getattr(one, "__all__", own)) - set(left_out)):
            parts += describe(f"{name}.{key}", getattr(one, key), "###")
    return "\n".join(parts) + "\n"


def page_as_markdown(source: Path, name: str) -> str | None:
    """The copy of one page, or None for a page that has no text of its own."""
    page = source / f"{name}.md"
    if page.exists():
        text = _INCLUDE.sub(lambda match: expand_include(match, page), page.read_text(encoding="utf-8"))
        return _DIRECTIVE.sub(expand_directive, text)
    script = source / f"{name}.py"
    if script.exists():
        head, title, *rest = re.split(r'^(?:"""\n(.+)\n=+\n\n)', script.read_text(encoding="utf-8"), maxsplit=1)
        doc, _, code = rest[0].partition('"""\n')
        return f"# {title}\n\n{head}{doc}\n```python\n{code.strip()}\n```\n"
    return None


def in_reading_order(app: Any) -> list[str]:
    """All pages, each after the page whose table of contents names it."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name not in order:
            order.append(name)
            for child in app.env.toctree_includes.get(name, ()):
                visit(child)

    visit(app.config.root_doc)
    return [*order, *sorted(set(app.env.found_docs) - set(order))]


def write_copies(app: Any, exception: Exception | None) -> None:
    """Write the copies beside the pages of a finished build."""
    if exception is not None or app.builder.name != "html":
        return
    source, out = Path(app.srcdir), Path(app.outdir)
    lines = []
    for name in in_reading_order(app):
        text = page_as_markdown(source, name)
        if text is None:
            continue
        copy = out / f"{name}.md"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
        title, summary = title_and_summary(text)
        lines.append(f"- [{title}]({name}.md): {summary}" if summary else f"- [{title}]({name}.md)")
    (out / "llms.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-signature", hide_signature)
    app.connect("build-finished", write_copies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
