"""Errors and warnings of this package.

Every error is a :class:`SevError` and also the built-in that a caller would expect to catch. Messages are written
beside their ``raise``: what is wrong, what was received, what to do.
"""

from typing import Any

from sklearn.exceptions import NotFittedError


class SevError(Exception):
    """Base class of all errors raised on purpose by this package."""


class InputError(SevError, ValueError):
    """Rows, labels or parameters that cannot be used as given."""


class UnknownFeatureError(InputError):
    """A feature or column name that the data do not have."""


class UnknownRowError(InputError, IndexError):
    """A place at which explanations have no row."""


class OptionError(InputError, TypeError):
    """Options where none can be given, or for an object that has its own already."""


class FolderNotFoundError(SevError, FileNotFoundError):
    """A file to be written into a folder that does not exist."""


class UnmappedReasonError(InputError):
    """A feature that a notice would name has no reason code.

    Parameters
    ----------
    message : str
        The message.
    features : tuple of str, default=()
        The features without a code, those of the most rows first.
    """

    def __init__(self, message: str, features: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.features = features


class TargetError(InputError):
    """A class to explain that the model does not know."""


class PositiveReferenceError(InputError):
    """The reference itself is predicted as the class being explained."""


class ModelError(SevError, TypeError):
    """A model that cannot be scored."""


class UnfittedModelError(ModelError, NotFittedError):
    """A model that was not fitted yet."""


class VerificationError(SevError, AssertionError):
    """An explanation that the model, scored again, does not confirm."""


class ArchiveError(SevError, ValueError):
    """A file that is damaged, is not a file of this package, or cannot be read safely."""


class UntrustedTypeError(ArchiveError):
    """A file, or a model to be saved, that holds types outside the list of those that are safe to load."""


class BatchError(SevError, RuntimeError):
    """A batch that cannot start, or that stopped before its end; what is done is kept."""


class TrainingError(SevError, ValueError):
    """A training run that cannot produce a usable model."""


class MissingDependencyError(SevError, ImportError):
    """An optional package that a feature needs is not installed."""


class SevWarning(UserWarning):
    """Base class of this package's warnings."""


class FallbackWarning(SevWarning):
    """A model is explained as a black box because it could not be read exactly."""


class DecisionWarning(SevWarning):
    """Decisions that are probably not intended: not the model's ``predict``, all the same, or none that can change."""


class TargetWarning(SevWarning):
    """A model has more than two classes, and the one to explain was not chosen."""


class ReferenceWarning(SevWarning):
    """The automatic reference is not the mean, which is tried first."""


class TrainingWarning(SevWarning):
    """A training run that did not reach what was requested."""


class RuleWarning(SevWarning):
    """A row breaks a rule of the actions before any change; the rule is not applied to it."""


class HiddenReasonWarning(SevWarning):
    """Restricted explanations leave out a feature that the unrestricted ones name."""


class InterruptedExplanation(KeyboardInterrupt):
    """Ctrl-C during a long call; the rows that were done are in :attr:`explanations`."""

    def __init__(self, n_done: int, n_rows: int, answers: Any) -> None:
        super().__init__(
            f"{n_done} of {n_rows} rows were explained before the interruption; the exception's `explanations` holds "
            "them, the others are undecided"
        )
        self.answers = answers
        self.explanations: Any = None
