"""The types that a saved model may hold, and in which kind of node of a skops file each may stand.

An estimator is trusted if it is a public one of scikit-learn or on the list of its library; functions, types and
containers have lists of their own. Being on a list allows a type to be built, not any state:
:mod:`sev.files._states` checks what goes into it. A test builds hostile files around every type on the lists.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module

import numpy as np

from sev._optional import require
from sev._registry import libraries
from sev.exceptions import ArchiveError
from sev.libraries.sklearn.trusted import is_loss, is_public_estimator

#: Classes that are built from a state, beside scikit-learn's public estimators.
OBJECTS: frozenset[str] = frozenset(
    (
        "sev.training._boosting.SEVGradientBoostingClassifier",
        "sev.training._encoder.TableEncoder",
        "sev.training._logistic.SEVLogisticRegression",
        "sev.training._mlp.SEVMLPClassifier",
        *(name for library in libraries().values() for name in library.trusted),
    )
)

#: Functions that a model may name.
FUNCTIONS: frozenset[str] = frozenset(
    ("numpy.mean", *(name for library in libraries().values() for name in library.trusted_functions))
)

_NUMPY_SCALARS = {kind for kind in np.sctypeDict.values() if kind is not np.object_}
#: numpy's scalars by their names, of this version of numpy and of older ones.
SCALARS: dict[str, type] = {
    **{f"numpy.{kind.__name__}": kind for kind in _NUMPY_SCALARS},
    "numpy.bool_": np.bool_,
    "numpy.bool": np.bool_,
    "numpy.str_": np.str_,
}
#: Types that stand for themselves, such as the dtype that an encoder is asked for.
TYPES: dict[str, type] = {
    **{f"builtins.{kind.__name__}": kind for kind in (str, int, float, bool, list, tuple, set, dict, type(None))},
    "collections.OrderedDict": OrderedDict,
    **SCALARS,
    **{f"numpy.{kind.__name__}": kind for kind in (np.floating, np.integer, np.number, np.generic)},
}
#: Types of the keys of mappings.
KEY_TYPES: frozenset[type] = frozenset(
    (str, int, float, bool, type(None), np.str_, *(kind for kind in _NUMPY_SCALARS if issubclass(kind, np.number)))
)

_BY_LOADER: dict[str, frozenset[str]] = {
    "JsonNode": frozenset(f"builtins.{name}" for name in ("str", "int", "float", "bool", "NoneType")),
    "ListNode": frozenset(("builtins.list",)),
    "TupleNode": frozenset(("builtins.tuple",)),
    "SetNode": frozenset(("builtins.set",)),
    "DictNode": frozenset(("builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch")),
    "DefaultDictNode": frozenset(("collections.defaultdict",)),
    "BytesNode": frozenset(("builtins.bytes",)),
    "BytearrayNode": frozenset(("builtins.bytearray",)),
    "SliceNode": frozenset(("builtins.slice",)),
    "TypeNode": frozenset(TYPES),
    "NdArrayNode": frozenset(("numpy.ndarray", *SCALARS)),
    "MaskedArrayNode": frozenset(("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray")),
    "DTypeNode": frozenset(("numpy.dtype",)),
    "RandomStateNode": frozenset(("numpy.random.mtrand.RandomState",)),
    "RandomGeneratorNode": frozenset(("numpy.random._generator.Generator",)),
    "TreeNode": frozenset(("sklearn.tree._tree.Tree",)),
}


def is_trusted(loader: str, name: str) -> bool:
    """Whether a type may stand in a kind of node."""
    if loader == "ObjectNode":
        return name in OBJECTS or is_public_estimator(name)
    if loader == "LossNode":
        return is_loss(name)
    if loader == "FunctionNode":
        return name in FUNCTIONS or _find_ufunc(name) is not None
    return name in _BY_LOADER.get(loader, ())


def find_class(name: str) -> type:
    """A class by its name, which is trusted; its package is imported."""
    module, _, kind = name.rpartition(".")
    package = module.partition(".")[0]
    library = libraries().get(package)
    if library is not None:
        require(package, extra=library.extra, feature="This model")
    found = getattr(import_module(module), kind, None)
    if not inspect.isclass(found):
        raise ArchiveError(f"The model holds a {name}, which the installed {package} does not have.")
    return found


def find_function(name: str) -> Callable[..., object]:
    """A function by its name, which is trusted."""
    if name in FUNCTIONS:
        module, _, kind = name.rpartition(".")
        function: Callable[..., object] = getattr(import_module(module), kind)
        return function
    found = _find_ufunc(name)
    if found is None:
        raise ArchiveError(f"The model holds a {name}, which the installed packages do not have.")
    return found


def _find_ufunc(name: str) -> np.ufunc | None:
    """A function of numpy or scipy that works on arrays element by element, None if a name is not one."""
    module, _, kind = name.rpartition(".")
    if module in ("numpy", "numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        found = getattr(np, kind, None)
    elif module.startswith("scipy.special"):
        found = getattr(import_module("scipy.special"), kind, None)
    else:
        return None
    return found if isinstance(found, np.ufunc) else None
