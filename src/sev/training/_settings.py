"""What a training run is told: the objective, the weights of the terms, and a schedule for each family of models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

from sev.core import tuple_of_names
from sev.exceptions import InputError
from sev.typing import Objective

if TYPE_CHECKING:
    from sev.training.losses import LossFormula

Family: TypeAlias = Literal["linear", "network", "trees"]

OBJECTIVES: tuple[Objective, ...] = ("volume", "plus", "minus", "both")


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How the losses are minimised.

    Parameters
    ----------
    epochs : int
        Passes over the rows, warm-up included.
    warmup : int
        Passes at the beginning with cross-entropy alone.
    batch_size : int or None
        Rows in a step; None is all of them.
    learning_rate : float
        Of Adam.
    decay : bool
        Let the learning rate fall to zero along a cosine.
    from_base : bool
        Start at the base model rather than at random weights.
    distil : bool
        Cross-entropy against the base model's own probabilities rather than the labels.
    margin : float
        How far past the threshold the best neighbour should be.
    rate_penalty : float
        Weight of the rate guard.
    min_steps : int
        Steps below which more passes are made: on small data an epoch is a handful.
    """

    epochs: int
    warmup: int = 0
    batch_size: int | None = None
    learning_rate: float = 0.1
    decay: bool = True
    from_base: bool = True
    distil: bool = True
    margin: float = 0.05
    rate_penalty: float = 10.0
    min_steps: int = 0

    def passes(self, n_rows: int) -> int:
        """Passes over so many rows."""
        size = min(self.batch_size or n_rows, n_rows)
        return max(self.epochs, -(-self.min_steps // -(-n_rows // size)))


_PAPER = Schedule(
    epochs=100, warmup=70, batch_size=128, decay=False, from_base=False, distil=False, margin=0.0, rate_penalty=0.0
)

SCHEDULES: dict[str, dict[Family, Schedule]] = {
    "recipe": {
        "linear": Schedule(epochs=400, learning_rate=0.1),
        "network": Schedule(epochs=8, learning_rate=2e-3, batch_size=256, min_steps=50),
        "trees": Schedule(epochs=200, learning_rate=0.1),
    },
    "paper": {"linear": _PAPER, "network": _PAPER, "trees": replace(_PAPER, from_base=True)},
}


class Penalty(NamedTuple):
    """Weight of the SEV term: least, most, and the drift from the base model at which it is the least."""

    least: float
    most: float
    drift: float


#: Where no weight is given.
SEV_PENALTY: dict[Objective, Penalty] = {
    "volume": Penalty(0.03, 0.03, 0.0),
    "plus": Penalty(1.0, 2.0, 0.008),
    "minus": Penalty(1.3, 3.0, 0.015),
    "both": Penalty(1.3, 3.0, 0.015),
}
#: For perceptrons and trees, which follow the SEV term more readily.
FLEXIBLE_SEV_PENALTY = Penalty(1.2, 2.0, 0.015)
#: How far below the threshold "volume" puts the reference, and keeps it.
VOLUME_REFERENCE_MARGIN = 0.07
#: Weight of the rate guard with restricted features, where none is given.
RESTRICTED_RATE_PENALTY = 3.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that a trainer needs to know besides the data.

    Parameters
    ----------
    objective : {"volume", "plus", "minus", "both"}
        Which explanations should be short.
    schedule : Schedule
        How the losses are minimised.
    sev_penalty, reference_penalty, rate_penalty : float
        Weights of the terms.
    max_sev_penalty : float or None
        Weight of the SEV term while the model has not moved; None: ``sev_penalty`` throughout.
    drift : float
        Distance from the base model at which the weight has come down to ``sev_penalty``.
    margin, reference_margin : float
        How far past the threshold the best neighbour, and below it the reference, should be.
    rate_tolerance : float or None
        By which part of itself the share of positive training rows may change: the bias is moved at the end where it
        changes by more; None: it is not.
    bias_shift : float or None
        What to add to the bias at the end instead, where rows held out have shown how much.
    grow : int
        Trees to add before re-weighting.
    early_stopping : bool
        Stop when the loss no longer falls.
    n_iter_no_change : int
        Passes without progress after which to stop.
    tol : float
        What counts as progress.
    seed : int
        Of random weights, the order of rows and samples.
    progress : bool or None
        Show a bar with the running terms; None: on a terminal, once it takes more than a few seconds.
    """

    objective: Objective
    schedule: Schedule
    sev_penalty: float
    max_sev_penalty: float | None = None
    drift: float = 0.0
    reference_penalty: float = 10.0
    rate_penalty: float = 10.0
    margin: float = 0.05
    reference_margin: float = 0.05
    rate_tolerance: float | None = None
    bias_shift: float | None = None
    grow: int = 0
    early_stopping: bool = False
    n_iter_no_change: int = 10
    tol: float = 1e-4
    seed: int = 0
    progress: bool | None = False

    def formula(self, rate: float) -> LossFormula:
        """The loss, for a base model with this share of positive predictions."""
        from sev.training.losses import LossFormula  # needs torch, which settings do not

        return LossFormula(
            sev_penalty=self.sev_penalty,
            reference_penalty=self.reference_penalty,
            rate_penalty=self.rate_penalty,
            rate=rate,
            margin=self.margin,
            reference_margin=self.reference_margin,
        )


#: Numbers that estimators take: the least allowed value, and whether it is itself allowed.
_NUMBERS: dict[str, tuple[float, bool, type]] = {
    "sev_penalty": (0.0, True, Real),
    "reference_penalty": (0.0, True, Real),
    "rate_penalty": (0.0, True, Real),
    "margin": (0.0, True, Real),
    "grow": (0, True, Integral),
    "max_iter": (1, True, Integral),
    "learning_rate": (0.0, False, Real),
    "batch_size": (1, True, Integral),
    "n_iter_no_change": (1, True, Integral),
    "tol": (0.0, True, Real),
    "max_rate_change": (0.0, True, Real),
}


class Parameters(TypedDict, total=False):
    """Parameters of the estimators that training depends on; what is None comes from the schedule."""

    objective: Objective
    schedule: str
    restricted: Iterable[str]
    sev_penalty: float | None
    reference_penalty: float | None
    rate_penalty: float | None
    margin: float | None
    max_iter: int | None
    learning_rate: float | None
    batch_size: int | None
    grow: int
    early_stopping: bool
    n_iter_no_change: int
    tol: float
    verbose: bool | None
    max_rate_change: float | None


def check_parameters(family: Family, given: Parameters) -> None:
    """Refuse values that make no sense, all with one grammar of messages."""
    objective, schedule = given["objective"], given["schedule"]
    if objective not in OBJECTIVES:
        raise InputError(f"objective={objective!r} is not known: use one of {list(OBJECTIVES)}.")
    if objective == "volume" and family != "linear":
        raise InputError('objective="volume" is for linear models only: use "plus" for short SEV+.')
    if schedule not in SCHEDULES:
        raise InputError(f"schedule={schedule!r} is not known: use one of {list(SCHEDULES)}.")
    if given.get("grow") and (family != "trees" or schedule == "paper"):
        raise InputError(f'grow={given["grow"]!r} works for boosted trees with schedule="recipe" only: leave grow out.')
    for name, (least, inclusive, kind) in _NUMBERS.items():
        value: Any = given.get(name)
        if value is None:
            continue
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or not (value >= least if inclusive else value > least):
            noun = "an integer" if kind is Integral else "a number"
            raise InputError(f"{name}={value!r} must be {noun} {'of at least' if inclusive else 'above'} {least:g}.")
    margin = given.get("margin")
    if margin is not None and margin >= 0.5:
        raise InputError(f"margin={margin!r} must be below 0.5: it is a distance from the threshold, in probability.")


def settings_for(family: Family, given: Parameters, seed: int) -> Settings:
    """Settings from an estimator's parameters; what is None comes from the schedule."""
    check_parameters(family, given)
    schedule = SCHEDULES[given["schedule"]][family]
    if given["objective"] == "volume" and given["schedule"] == "recipe":
        # a larger step leaps over the well around a reference near the threshold, in which SEV+ is 1
        schedule = replace(schedule, learning_rate=0.03, epochs=600)
    if (max_iter := given.get("max_iter")) is not None:
        epochs = int(max_iter)
        schedule = replace(schedule, epochs=epochs, warmup=schedule.warmup * epochs // schedule.epochs, min_steps=0)
    if (learning_rate := given.get("learning_rate")) is not None:
        schedule = replace(schedule, learning_rate=float(learning_rate))
    if (batch_size := given.get("batch_size")) is not None:
        schedule = replace(schedule, batch_size=int(batch_size))
    penalty = _sev_penalty(family, schedule, given)
    rate_penalty = _number_or(given.get("rate_penalty"), _rate_penalty(schedule, given))
    return Settings(
        objective=given["objective"],
        schedule=schedule,
        sev_penalty=penalty.least,
        max_sev_penalty=penalty.most,
        drift=penalty.drift,
        reference_penalty=_number_or(given.get("reference_penalty"), 10.0),
        rate_penalty=rate_penalty,
        rate_tolerance=_rate_tolerance(rate_penalty, given),
        margin=_number_or(given.get("margin"), schedule.margin),
        reference_margin=VOLUME_REFERENCE_MARGIN if given["objective"] == "volume" else 0.05,
        grow=int(given.get("grow") or 0),
        early_stopping=bool(given.get("early_stopping", False)),
        n_iter_no_change=int(given.get("n_iter_no_change", 10)),
        tol=float(given.get("tol", 1e-4)),
        seed=seed,
        progress=given.get("verbose", False),
    )


def _sev_penalty(family: Family, schedule: Schedule, given: Parameters) -> Penalty:
    """The weight that is given, or one that depends on the drift where there is a base model to drift from."""
    if (fixed := given.get("sev_penalty")) is not None:
        return Penalty(float(fixed), float(fixed), 0.0)
    penalty = SEV_PENALTY[given["objective"]]
    if family != "linear" and given["objective"] != "plus":
        penalty = FLEXIBLE_SEV_PENALTY
    if not schedule.distil:
        return penalty._replace(least=min(1.0, penalty.least), most=min(1.0, penalty.least))
    return penalty


def _rate_penalty(schedule: Schedule, given: Parameters) -> float:
    """The schedule's, weaker with restricted features: a decision that rests on those alone has to go."""
    return min(schedule.rate_penalty, RESTRICTED_RATE_PENALTY) if _is_restricted(given) else schedule.rate_penalty


def _rate_tolerance(rate_penalty: float, given: Parameters) -> float | None:
    """Half of the change that is allowed: rows that were not trained on add to it. None where there is no guard."""
    weakened = given.get("rate_penalty") is None and _is_restricted(given)
    limit = given.get("max_rate_change")
    return None if limit is None or not rate_penalty or weakened else float(limit) / 2.0


def _is_restricted(given: Parameters) -> bool:
    return bool(tuple_of_names(given.get("restricted") or (), "restricted"))


def _number_or(value: float | None, default: float) -> float:
    return default if value is None else float(value)
