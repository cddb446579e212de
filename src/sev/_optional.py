"""Optional packages, imported where they are needed."""

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
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # installed but broken: do not call it missing
        package = module.partition(".")[0]
        wanted = package if extra is None else f"'sev[{extra}]'"
        raise MissingDependencyError(f"{feature} needs {package}: pip install {wanted}") from error
