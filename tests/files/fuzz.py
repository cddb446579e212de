"""Loads changed model files, one after the other, in processes that may die of it.

``python -m files.fuzz 1000`` (in ``tests``) tries a thousand changes to each model and prints what crashed or hung;
names of models may follow. Each case has a number, and is made again from the name and the number.
"""

import contextlib
import io
import os
import select
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from files import hostile, zoo

from sev.exceptions import SevError
from sev.files._models import model_from_bytes, model_to_bytes

MEMORY = 6 << 30
#: Models whose own format is changed, beside their skops files.
RAW = ("xgboost", "lightgbm", "catboost", "catboost with categories", "catboost, lopsided")


def target(name):
    """Form, bytes and rows of a model: of the zoo, a raw booster, or any public estimator of scikit-learn."""
    if name.startswith("sklearn."):
        import skops.io

        model, rows = zoo.estimator(zoo.estimator_names()[name])
        try:
            return "skops", skops.io.dumps(model), rows
        except Exception:  # skops cannot write it fitted: its parameters still make a file
            return "skops", skops.io.dumps(zoo.unfitted(zoo.estimator_names()[name])), rows
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


def _tell(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(name, first, last):
    """Load and use changed files; prints which one is at work, so that a death can be put down to it."""
    form, data, rows = target(name)
    if form == "skops":
        _tell(f"{name}\ttypes\t{' '.join(sorted(hostile.names_in(data)))}")
    loaded = 0
    for seed in range(first, last):
        _tell(f"{name}\t{seed}")
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                model = model_from_bytes(form, changed(form, data, hostile.seeded(name, seed)))
        except SevError:
            continue
        loaded += 1
        use(model, rows)
    _tell(f"{name}\tdone\t{loaded}")


def every_name():
    """All models whose files are changed."""
    return [*zoo.ZOO, *(f"raw {name}" for name in RAW), *sorted(zoo.estimator_names())]


def _environment():
    """The variables of this process, with the folder of the tests where Python looks for modules."""
    folders = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}


class Campaign:
    """Runs cases in child processes, and goes on behind each case that a child did not survive."""

    def __init__(self, names, count, *, seconds_each=60.0, seconds_to_start=300.0):
        self._waiting = dict.fromkeys(names, 0)
        self._count = count
        self._seconds = seconds_each, seconds_to_start
        self.ran = 0
        self.loaded = 0
        self.types = set()
        self.crashes = []

    def run(self):
        while self._waiting:
            self._one_child()
        return self

    def _one_child(self):
        words = [f"{name}={first}" for name, first in self._waiting.items()]
        command = [sys.executable, "-W", "ignore", "-m", "files.fuzz", "--child", str(self._count), *words]
        with tempfile.TemporaryFile() as errors:
            pipes = {"stdout": subprocess.PIPE, "stderr": errors, "bufsize": 0, "env": _environment()}
            with subprocess.Popen(command, **pipes) as child:
                at_work, hung = self._follow(child)
            if at_work is None:
                if self._waiting:
                    errors.seek(0)
                    raise RuntimeError(f"no case could be run: {errors.read()[-2000:].decode(errors='replace')}")
                return
        name, seed = at_work
        sys.stderr.write(f"{name} {seed}: {'hung' if hung else child.returncode}\n")
        self.crashes.append((name, seed, "hung" if hung else child.returncode))
        self._waiting[name] = seed + 1
        if seed + 1 >= self._count:
            del self._waiting[name]

    def _follow(self, child):
        at_work, text, last = None, b"", time.monotonic()
        while True:
            ready, _, _ = select.select([child.stdout], [], [], 1.0)
            if ready:
                piece = os.read(child.stdout.fileno(), 1 << 16)
                if not piece:
                    return at_work, False
                last = time.monotonic()
                *lines, text = (text + piece).split(b"\n")
                for line in lines:
                    at_work = self._note(line.decode(), at_work)
            elif time.monotonic() - last > self._seconds[at_work is None]:
                child.kill()
                return at_work, True

    def _note(self, line, at_work):
        words = line.split("\t")
        if words[1:2] == ["done"]:
            self.loaded += int(words[2])
            del self._waiting[words[0]]
            return None
        if words[1:2] == ["types"]:
            self.types.update(words[2].split())
        elif len(words) == 2:
            self.ran += 1
            return words[0], int(words[1])
        return at_work


if __name__ == "__main__":
    import resource

    if sys.argv[1] == "--child":
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for word in sys.argv[3:]:
            chosen, _, first_seed = word.rpartition("=")
            run(chosen, int(first_seed), int(sys.argv[2]))
    else:
        campaign = Campaign(sys.argv[2:] or every_name(), int(sys.argv[1])).run()
        _tell(f"{campaign.ran:,} files, {campaign.loaded:,} of them loaded")
        _tell(f"crashes and hangs: {campaign.crashes or 'none'}")
        sys.exit(bool(campaign.crashes))
