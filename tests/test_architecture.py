"""Imports point one way, and the underscore means something: read from every file, lazy and typing imports included."""

import re
from collections.abc import Callable, Iterable, Iterator

import pytest
from imports import MODULES, PACKAGE, Source, Use, attributes_of, sources

from sev._registry import LIBRARIES

#: Each package may import those above it, never those below; CONTRIBUTING has the picture.
ORDER = (
    "typing",
    "exceptions",
    "_native",
    "_optional",
    "_registry",
    "_io",
    "_spreadsheet",
    "core",
    "text",
    "space",
    "references",
    "actions",
    "backends",
    "credibility",
    "libraries",
    "files",
    "plots",
    "explanations",
    "explainers",
    "datasets",
    "testing",
    "training",
    "comparison",
    "reports",
    "batch",
    "app",
    "__init__",
    "demo",
    "cli",
)

#: Plots stand beside the packages between text and explanations: they draw what they are handed.
BESIDE = {"plots": ORDER[: ORDER.index("text") + 1]}

#: Names in strings against the order, each for a reason.
UPWARDS = {
    ("_registry.py", "sev.libraries"),  # the one look-up of plug-ins
    ("files/_trusted.py", "sev.training"),  # types that saved models may hold, by the names that stand in the files
    ("explainers/_explainer.py", "sev.app"),  # a method of the explainer that needs more packages
    ("backends/networks/__init__.py", "sev.libraries"),  # names of 0.1, which still answer
    ("backends/networks/_module.py", "sev.libraries"),
    ("backends/networks/_pipeline.py", "sev.libraries"),
}

#: Not ours: the interface of named tuples, and attributes of CatBoost's and scikit-learn's objects.
FOREIGN = {"_replace", "_fields", "_asdict", "_object", "_baseline_prediction"}

#: Libraries of models that nothing but their folder may name: torch and scikit-learn are also what we compute with.
FOLDERS = tuple(name for name in LIBRARIES if name not in ("sklearn", "torch"))


def taken_from_others(source: Source) -> Iterator[Use]:
    """What a file takes from other packages, in whatever way."""
    named = [one for one in source.names_in_strings if (one.file, f"sev.{one.imported}") not in UPWARDS]
    return (one for one in (*source.imports, *source.reads_of_modules, *named) if one.imported != one.importer)


def against_the_order(source: Source) -> list[str]:
    """What a file takes from packages that may import it."""
    taken = taken_from_others(source)
    return [
        str(one)
        for one in taken
        if ORDER.index(one.imported) > ORDER.index(one.importer) or one.imported not in BESIDE.get(one.importer, ORDER)
    ]


def private_names(source: Source) -> list[str]:
    """Private modules and names of other packages that a file takes."""
    return [str(one) for one in taken_from_others(source) if one.is_private]


def private_attributes(source: Source) -> Iterator[str]:
    """Private attributes of other packages' objects that a file reads or sets."""
    own = attributes_of(source.package) | source.attributes
    everybodys = {name for package in ORDER for name in attributes_of(package)} - FOREIGN
    for line, name, of in source.private_reads:
        if (name in everybodys and name not in own) or (of in source.objects_of_others and name not in FOREIGN):
            yield f"{source.file}:{line} reads {name} of {of}"


def libraries_of_others(source: Source) -> Iterator[str]:
    """Model libraries that a file names, though they have folders of their own."""
    parts = source.file.removesuffix(".py").split("/")
    known = parts[:2] if parts[0] == "libraries" else FOLDERS if source.file == "_registry.py" else ()
    for line, text in (*source.strings, *source.imported_modules):
        if {part for part in text.split(".") if part in FOLDERS} - set(known):
            yield f"{source.file}:{line} names {text}"


def everywhere(check: Callable[[Source], Iterable[str]]) -> list[str]:
    """What a check finds in all files."""
    return [found for source in sources() for found in check(source)]


def test_every_package_has_a_place_in_the_order():
    assert {source.package for source in sources()} - set(ORDER) == set()
    assert sum(len(source.imports) for source in sources()) > 400  # the files are really read


def test_no_import_is_relative():
    """The other tests read imports by their full names."""
    assert [source.file for source in sources() if re.search(r"^\s*from \.", source.text, re.MULTILINE)] == []


def test_the_map_and_the_picture_in_contributing_name_every_package():
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    tree = text[text.index("    src/sev/\n") : text.index("    tests/ ")]
    picture = text[text.index("cli, demo") : text.index("`_registry.py` is the one look-up")]
    packages = [one.name for one in PACKAGE.iterdir() if (one / "__init__.py").exists()] + ["_native"]
    assert len(packages) > 15
    assert [name for name in packages if f"      {name}/ " not in tree] == []
    assert [name for name in ORDER if name != "__init__" and not re.search(rf"\b{name}\b", picture)] == []


@pytest.mark.parametrize("check", [against_the_order, private_names, private_attributes])
def test_imports_point_one_way_and_take_public_names(check):
    found = everywhere(check)
    assert found == [], "\n".join(found)


def test_a_model_library_is_known_to_its_folder_alone():
    found = everywhere(libraries_of_others)
    # 0.1 had a reader of skorch in another place, which still answers
    assert [one for one in found if not one.startswith("backends/networks/__init__")] == [], "\n".join(found)


def test_every_name_in_a_string_that_is_permitted_upwards_is_there():
    used = {(one.file, f"sev.{one.imported}") for source in sources() for one in source.names_in_strings}
    assert UPWARDS - used == set()


@pytest.mark.parametrize(
    "text",
    [
        "from sev.explanations import Explanation",
        "def f():\n    from sev.explanations import Explanation",
        "def f():\n    import sev.batch as work",
        "if TYPE_CHECKING:\n    from sev.explanations import Explanation",
        "from sev import explanations",
        "from sev import Explainer",
        "from sev import demo",
        "import sev",
        "import_module('sev.explanations')",
        "load('sev.explanations:Explanation')",
        "import_module(f'sev.explanations.{name}')",
        "import_module('sev.' + name)",
        "import_module(f'sev.{name}')",
        "__import__('sev.explanations')",
        "__import__('sev')",
        "def f(many: 'sev.explanations.Explanations | None'): ...",
        "def f(many: 'list[sev.explanations.Explanations]'): ...",
        "many = cast('sev.explanations.Explanations', many)",
    ],
)
def test_each_way_against_the_order_is_found(text):
    assert list(against_the_order(Source("core/_x.py", text))) != []


def test_plots_take_nothing_from_the_packages_beside_them():
    assert against_the_order(Source("plots/_x.py", "from sev.space import Mixer\n")) != []
    assert against_the_order(Source("plots/_x.py", "from sev.text import Labels\n")) == []


@pytest.mark.parametrize(
    "text",
    [
        "from sev.explanations._json import dump",
        "from sev.explanations import _json",
        "from sev._registry import _table",
        "def f():\n    from sev.explanations import _json",
        "import sev.explanations._json as texts",
        "from sev import explanations\nexplanations._json.dump()",
        "from sev import explanations as e\ne._json.dump()",
        "import sev.explanations\nsev.explanations._json.dump()",
        "import sev\nsev.explanations._json.dump()",
        "import_module('sev.explanations._json')",
        "load('sev.explanations:_write')",
        "def f(one: 'sev.explanations._json.Document'): ...",
    ],
)
def test_each_way_to_a_private_name_is_found(text):
    assert list(private_names(Source("reports/_x.py", text))) != []


@pytest.mark.parametrize(
    "text",
    [
        "many._answers",
        "many._answers = None",
        "getattr(many, '_answers')",
        "operator.attrgetter('source._answers')(many)",
        "many.__dict__['_answers']",
        "vars(many)['_answers']",
        # a class of the same package has an attribute of that name
        "from sev.explanations import Explanations\n"
        "class A:\n    _answers: int\n"
        "def f(many: Explanations | None): many._answers",
        "from sev.explainers import Explainer\nclass A:\n    _form = 1\none = Explainer(model)\none._form",
    ],
)
def test_each_way_to_a_private_attribute_is_found(text):
    assert list(private_attributes(Source("reports/_x.py", text))) != []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("explainers/_x.py", "import xgboost"),
        ("explainers/_x.py", "require('lightgbm.sklearn')"),
        ("libraries/xgboost/x.py", "def f():\n    from lightgbm import Booster"),
    ],
)
def test_each_way_to_name_a_model_library_is_found(file, text):
    assert list(libraries_of_others(Source(file, text))) != []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("reports/_x.py", "from sev.explanations import Explanations\nclass A:\n    def f(self): self._own = 1"),
        ("reports/_x.py", "from sev.reports._codes import read_codes\nimport_module('sev.reports._codes')"),
        ("reports/_x.py", "from sev import explanations\nexplanations.Explanations"),
        ("core/_x.py", "'Not sev.explanations.Explanations'\nraise ValueError('Use sev.explanations.Explanations.')"),
        ("core/_x.py", "from sev import _native\n_native.search()"),
        ("libraries/xgboost/x.py", "import xgboost"),
    ],
)
def test_what_is_permitted_is_not_found(file, text):
    checks = (against_the_order, private_names, private_attributes, libraries_of_others)
    assert [found for check in checks for found in check(Source(file, text))] == []


def modules_in_a_cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import themselves through others."""
    found = []
    for start in edges:
        seen: set[str] = set()
        waiting = list(edges[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting.extend(edges.get(module, ()))
        found += [start] * (start in seen)
    return found


def test_no_module_imports_itself_through_others():
    edges = {source.module: set(source.imported_at_once()) for source in sources()}
    assert set(edges) | {"sev._native"} == MODULES
    assert modules_in_a_cycle(edges) == []


def test_a_cycle_of_modules_is_found():
    assert modules_in_a_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    text = "class A:\n    from sev.core import Status\ntry:\n    import sev.batch\nexcept ImportError:\n    pass\n"
    lazy = "def f():\n    import sev.reports\nif TYPE_CHECKING:\n    import sev.plots\n"
    assert set(Source("core/_x.py", text + lazy).imported_at_once()) == {"sev.core", "sev.batch"}


def test_the_namespace_of_native_code_is_its_folder():
    native = PACKAGE / "_native"
    if not native.exists():
        pytest.skip("the wheel has no native sources")
    found = {}
    for path in native.glob("*/*.?pp"):
        names = re.findall(r"^namespace ([\w:]+) \{", path.read_text("utf-8"), re.MULTILINE)
        found.setdefault(path.parent.name, set()).update(names)
    assert len(found) == 5
    assert {folder: {f"sev::{folder}"} if folder != "core" else {"sev"} for folder in found} == found
