"""Optional packages, imported where they are needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from sev.exceptions import MissingDependencyError


def require(module: str, *, extra: str | None, feature: str) -> ModuleType:
    """Import ``module``, or say which extra of this package brings it.

    Parameters
    ----------
    module : str
        Name to import, such as ``"matplotlib.pyplot"``.
    extra : str or None
        The extra of this package that installs it; None where there is none.
    feature : str
        What the user asked for, for the message.
    """
    with name_missing(module.partition(".")[0], extra=extra, feature=feature):
        return import_module(module)


@contextmanager
def name_missing(*packages: str, extra: str | None, feature: str) -> Iterator[None]:
    """Imports of a package whose parts need optional packages: a missing one is reported with the extra that brings it.

    Parameters
    ----------
    *packages : str
        The optional packages. Any other that is missing means that something installed is broken.
    extra : str or None
        The extra of this package that installs them; None where there is none.
    feature : str
        What the user asked for, for the message.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        wanted = error.name if extra is None else f"'sev[{extra}]'"
        raise MissingDependencyError(f"{feature} needs {error.name}: pip install {wanted}") from error


@contextmanager
def one_torch_thread(torch: ModuleType) -> Iterator[None]:
    """One thread for torch: sums then come out the same on every machine, and small steps do not wait for others."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
