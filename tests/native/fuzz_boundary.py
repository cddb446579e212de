"""Wrong, empty, huge, misaligned and damaged arguments to the native functions, for a bounded time.

Calls of every bound name (``native_calls.py``) are repeated with changed arguments. Each must return or raise one of
``ALLOWED``; it must not crash, hang or read what is not its own (`make fuzz-native` runs this under the sanitizers).
Each case follows from the seed and its number alone: a failure prints the command that repeats it.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from native.native_calls import record_calls

from sev import _native

ALLOWED = (TypeError, ValueError, IndexError, OverflowError, MemoryError)
CALL_SECONDS = 3  # after which a search is interrupted, as by Ctrl-C
DEAF_SECONDS = 60  # without a new case, after which it is taken not to react to that
OUT_OF_MEMORY = ("allocation-size-too-big", "out-of-memory", "out of memory")  # how the address sanitizer ends then
INTEGERS = (-(2**63), -(2**31), -1, 0, 1, 2, 3, 63, 64, 65, 255, 4096, 2**31 - 1, 2**31, 2**62, 2**63 - 1, 2**70)
FLOATS = (-np.inf, -1.0, -0.0, 5e-324, 1e-9, 1.0, 1e308, np.inf, np.nan)


class Interrupted(Exception):
    """A call was interrupted by the alarm."""


# -- what may be wrong with an argument ------------------------------------------------------------------------------


def change(value, rng):
    """Return something in place of an argument: often of the same kind, damaged."""
    if rng.random() < 0.05:
        return (None, "text", 1, 2.5, [], b"", object(), np.float32(1))[rng.integers(8)]
    if isinstance(value, np.ndarray):
        return ARRAYS[rng.integers(len(ARRAYS))](value, rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return INTEGERS[rng.integers(len(INTEGERS))]
    if isinstance(value, float):
        return FLOATS[rng.integers(len(FLOATS))]
    if callable(value):
        return FUNCTIONS[rng.integers(len(FUNCTIONS))]
    return value


def other_values(array, rng, count=None):
    """Return a copy with a few values replaced by extreme, neighbouring or exchanged ones."""
    array = array.copy()
    for _ in range(count or rng.integers(1, 4)):
        if not array.size:
            break
        place = rng.integers(array.size)
        if array.dtype.kind == "f":
            array.flat[place] = FLOATS[rng.integers(len(FLOATS))]
        elif rng.random() < 0.5:
            array.flat[place] = array.flat[rng.integers(array.size)]
        else:
            bits = array.reshape(-1).view(np.uint8)
            bits[rng.integers(bits.size)] ^= np.uint8(1 << rng.integers(8))
    return array


def misaligned(array, rng):
    """Return an equal array whose memory begins at an odd address."""
    memory = np.empty(array.nbytes + 1, np.uint8)
    shifted = memory[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    return shifted


def read_only(array, rng):
    array = array.copy()
    array.flags.writeable = False
    return array


def other_length(array, rng):
    """Return the array cut short, lengthened or without rows."""
    length = len(array) if array.ndim else 0
    wanted = (0, 1, max(length - 1, 0), length + 1, 2 * length)[rng.integers(5)]
    return (
        np.resize(array, (wanted, *array.shape[1:]))
        if array.size
        else np.zeros((wanted, *array.shape[1:]), array.dtype)
    )


ARRAYS = (
    other_values,
    other_values,  # twice as often: the only ones that go past the checks of shapes and types
    misaligned,
    read_only,
    other_length,
    lambda array, rng: np.empty((2 ** int(rng.integers(10, 59)), 0), array.dtype),
    lambda array, rng: np.broadcast_to(array.dtype.type(1), (2**40, *(1,) * (array.ndim - 1))),
    lambda array, rng: array.astype(
        (np.float32, np.int32, np.int64, np.uint64, bool, object, complex)[rng.integers(7)]
    ),
    lambda array, rng: array[..., None],
    lambda array, rng: array.reshape(-1),
    lambda array, rng: array[::-1],
    lambda array, rng: np.asfortranarray(array.T),
    lambda array, rng: array.astype(array.dtype.newbyteorder()),
    lambda array, rng: array[..., :0],
)


def fail(row, points):
    raise ValueError("the model fails")


#: In place of the function that decides about points.
FUNCTIONS = (
    lambda row, points: np.zeros(len(points), dtype=bool),
    lambda row, points: np.ones(len(points), dtype=bool),
    lambda row, points: np.ones(len(points) + 1, dtype=bool),
    lambda row, points: np.full(len(points), 255, dtype=np.uint8).view(bool),
    lambda row, points: np.ones((len(points), 1), dtype=bool),
    lambda row, points: np.ones(len(points)),
    lambda row, points: [True] * len(points),
    lambda row, points: None,
    lambda: None,
    fail,
)


# -- one process that makes the calls, another that watches it -------------------------------------------------------


def make_calls(seed, first, last, seconds, progress):
    """Make one changed call after another; the number of the current one is always in the file `progress`."""
    warnings.simplefilter("ignore")
    calls = record_calls()
    file = os.open(progress, os.O_CREAT | os.O_WRONLY)
    signal.signal(signal.SIGALRM, interrupt)
    end = time.monotonic() + seconds
    number = first
    while number <= last and time.monotonic() < end:
        os.pwrite(file, b"%20d" % number, 0)
        make_case(calls, np.random.default_rng([seed, number]))
        number += 1
    sys.stdout.write(f"{number - first} cases passed\n")


def make_case(calls, rng):
    """Make one changed call; where it returns an object, such as a forest, go on with calls that take it."""
    damaged = None
    for _ in range(5):
        able = [call for call in calls if damaged is None or takes(call, damaged)]
        if not able:
            return
        damaged = make_call(able[rng.integers(len(able))], damaged, rng)
        if damaged is None:
            return


def takes(call, damaged):
    _, _, arguments, named = call
    return any(type(value) is type(damaged) for value in (*arguments, *named.values()))


def make_call(call, damaged, rng):
    """Make a recorded call with changed arguments and return the object of the extension that it makes, if any."""
    name, function, arguments, named = call
    values = [*arguments, *named.values()]
    if damaged is None or rng.random() < 0.3:
        for place in rng.permutation(len(values))[: rng.integers(1, 4)]:
            values[place] = change(values[place], rng)
    values = [damaged if type(value) is type(damaged) and damaged is not None else value for value in values]
    try:
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
        try:
            result = function(*values[: len(arguments)], **dict(zip(named, values[len(arguments) :], strict=True)))
        finally:  # the alarm may still come before this line
            signal.setitimer(signal.ITIMER_REAL, 0)
    except (*ALLOWED, Interrupted):
        return None
    except BaseException as error:
        raise AssertionError(f"{name} raised {type(error).__name__}") from error
    return result if type(result).__module__ == _native.__name__ else None


def interrupt(number, frame):
    raise Interrupted


def watch(seed, seconds):
    """Run the cases in another process until the time is over, past those that fail; return what failed, or nothing."""
    end, first, failures = time.monotonic() + seconds, 0, []
    with TemporaryDirectory() as folder:
        progress = Path(folder, "case")
        while (left := end - time.monotonic()) > 0:
            progress.unlink(missing_ok=True)
            command = [
                sys.executable,
                "-m",
                __spec__.name,
                "--seed",
                str(seed),
                "--first",
                str(first),
                "--progress",
                str(progress),
            ]
            child = subprocess.Popen([*command, "--seconds", str(left)], stderr=subprocess.PIPE, text=True)
            error = wait(child, progress)
            if not progress.exists():
                return error or f"no case was run in {seconds} s"
            if child.returncode == 0:
                first = int(progress.read_text()) + 1
                break
            case = int(progress.read_text())
            if not any(words in error for words in OUT_OF_MEMORY):
                lines = [line[:160] for line in error.splitlines() if not line.startswith(" - leaked")]
                repeat = f"python -m {__spec__.name} --seed {seed} --first {case} --last {case}"
                failures.append(
                    "\n".join((*lines[:4], "...", *lines[-4:], f"ended with {child.returncode}; {repeat}\n"))
                )
            first = case + 1
    sys.stdout.write(f"{first} cases, {len(failures)} failed\n")
    return "\n".join(failures) or None


def wait(child, progress):
    """Wait for the end of the process, and kill it where it neither ends nor begins a new case."""
    seen, since = None, time.monotonic()
    while True:
        try:
            return child.communicate(timeout=2)[1]
        except subprocess.TimeoutExpired:
            now = progress.read_text() if progress.exists() else None
            if now != seen:
                seen, since = now, time.monotonic()
            elif now is not None and time.monotonic() - since > DEAF_SECONDS:
                child.kill()
                return f"no reaction to an interrupt for {DEAF_SECONDS} s\n{child.communicate()[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="make the calls in this process, from this case on")
    parser.add_argument("--last", type=int, default=sys.maxsize)
    parser.add_argument("--progress", default=os.devnull)
    options = parser.parse_args()
    if options.first is not None:
        return make_calls(options.seed, options.first, options.last, options.seconds, options.progress)
    return watch(options.seed, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
