"""Optional packages, imported where they are needed."""

from importlib import import_module
from types import ModuleType

from sev.exceptions import MissingDependencyError


def require(module: str, *, extra: str, feature: str) -> ModuleType:
    """Import ``module``, or say which extra of this package brings it.

    Parameters
    ----------
    module : str
        Name to import, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of this package that installs it.
    feature : str
        What the user asked for, for the message.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # installed but broken: do not call it missing
        message = f"{feature} needs {module.partition('.')[0]}: pip install 'sev[{extra}]'"
        raise MissingDependencyError(message) from error
