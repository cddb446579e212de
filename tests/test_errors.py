"""Errors are those of `sev.exceptions`, which also are the built-in that a caller would expect to catch."""

import ast
import builtins

import pytest
from imports import sources

import sev
from sev._io import write_file
from sev._registry import add_route
from sev.exceptions import FolderNotFoundError, OptionError, SevError, UnknownRowError

#: Built-ins that are raised as they are, each for a reason.
PLAIN = {
    ("backends/blackbox/_calls.py", "ValueError"),  # a reason of one row: caught in the same function
    ("backends/trees/free/search.py", "KeyError"),  # a mapping, caught by `Mapping.get`
    ("batch/_manifest.py", "ValueError"),  # caught in the same function, which names the file
    ("explanations/_document.py", "ValueError"),  # caught where the document is read, which says that it is damaged
    ("comparison/_compare.py", "AssertionError"),  # a defect of this package
    ("_io.py", "OSError"),  # has the number and the file that the system's own errors have
    ("explainers/_results.py", "KeyboardInterrupt"),
}


def _builtins_raised(source):
    """Names of built-in errors that are raised, except by the modules' own look-up of names."""
    for node in source.nodes:
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call | ast.Name):
            called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            known = getattr(builtins, getattr(called, "id", ""), None)
            if isinstance(known, type) and known is not AttributeError:
                yield known.__name__


def test_no_built_in_error_reaches_a_user():
    raised = {(one.file, name) for one in sources() for name in _builtins_raised(one)}
    assert raised == PLAIN


def test_a_route_that_another_one_has_is_an_error_of_ours():
    with pytest.raises(SevError, match=r"already registered for the role 'read'.*under another name"):
        add_route("read", "sklearn.LogisticRegression", "json:dumps")


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FolderNotFoundError, match=r"create it first.*reports") as caught:
        write_file(tmp_path / "reports" / "one.html", b"")
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.filename == str(tmp_path / "reports")


@pytest.mark.parametrize(("error", "built_in"), [(UnknownRowError, IndexError), (OptionError, TypeError)])
def test_errors_are_also_what_a_caller_expects(error, built_in):
    assert issubclass(error, built_in)
    assert issubclass(error, sev.exceptions.InputError)
