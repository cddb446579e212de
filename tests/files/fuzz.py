"""Loads changed model files, one after the other, in a process that may die of it: ``python -m files.fuzz``."""

import contextlib
import io
import resource
import sys
import warnings

import numpy as np
from files import hostile, zoo

from sev.exceptions import SevError
from sev.files._models import model_from_bytes, model_to_bytes

MEMORY = 6 << 30


def target(name):
    """Form, bytes and rows of a model: of the zoo, a raw booster, or any public estimator of scikit-learn."""
    if name.startswith("sklearn."):
        import skops.io

        model, rows = zoo.estimator(zoo.estimator_names()[name])
        return "skops", skops.io.dumps(model), rows
    if name.startswith("raw "):
        model, rows, _ = zoo.fitted(name.removeprefix("raw "))
        raw = model.get_booster() if "xgboost" in name else model.booster_ if "lightgbm" in name else None
        if raw is None:
            return "catboost", model._serialize_model(), rows
        return *model_to_bytes(raw, allow_pickle=False), rows
    model, rows, _ = zoo.fitted(name)
    return *model_to_bytes(model, allow_pickle=False), rows


def changed(form, data, generator):
    if form == "skops":
        return hostile.changed_skops(data, generator)
    if form == "xgboost":
        return hostile.changed_ubjson(data, generator)
    if form == "lightgbm":
        return hostile.changed_text(data.decode(), generator).encode(errors="replace")
    return hostile.changed_bytes(data, generator)


def use(model, rows):
    """Everything that may be asked of a model; errors are fine."""
    for name in ("predict_proba", "decision_function", "predict", "transform", "score_samples", "kneighbors"):
        with contextlib.suppress(Exception):
            given = rows
            if type(model).__module__.startswith("xgboost") and type(model).__name__ == "Booster":
                import xgboost

                given = xgboost.DMatrix(np.asarray(rows))
            getattr(model, name)(given)


def run(name, first, count):
    """Load and use changed files; tells which one is at work, so that a death can be put down to it."""
    form, data, rows = target(name)
    model = model_from_bytes(form, data) if not name.startswith("sklearn.") else None
    if model is not None:
        use(model, rows)
    loaded = 0
    for seed in range(first, first + count):
        print(seed, flush=True)
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                model = model_from_bytes(form, changed(form, data, hostile.seeded(name, seed)))
        except SevError:
            continue
        loaded += 1
        use(model, rows)
    print("done", loaded, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
