"""Random generators from their states, which compiled code would trust."""

from __future__ import annotations

import numpy as np

from sev.exceptions import ArchiveError
from sev.typing import Parsed

_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_WORDS_OF_MT19937 = 624
_MOST_BUFFERED = 4
_LARGEST_POOL = 64


def random_state_from_state(state: Parsed) -> np.random.RandomState:
    """A legacy generator that goes on where a saved one was."""
    state = _check_state(state, ("MT19937",))
    generator = np.random.RandomState()
    generator.set_state(state)
    return generator


def generator_from_state(state: Parsed, seed: Parsed) -> np.random.Generator:
    """A generator that goes on where a saved one was."""
    state = _check_state(state, _GENERATORS)
    sequence = None
    if seed is not None:
        if not isinstance(seed, dict) or not set(seed) <= {"entropy", "spawn_key", "pool_size", "n_children_spawned"}:
            raise ArchiveError("The model holds a random generator whose seed is not known.")
        if not isinstance(seed.get("pool_size", 4), int) or not 4 <= seed.get("pool_size", 4) <= _LARGEST_POOL:
            raise ArchiveError("The model holds a random generator whose seed is too large.")
        sequence = np.random.SeedSequence(**seed)
    bits = getattr(np.random, state["bit_generator"])(sequence)
    bits.state = state
    return np.random.Generator(bits)


def _check_state(state: Parsed, names: tuple[str, ...]) -> dict[str, Parsed]:
    """A state whose positions lie inside its buffers."""
    if not isinstance(state, dict) or state.get("bit_generator") not in names:
        raise ArchiveError("The model holds a random generator of a kind that is not known.")
    inner: Parsed = state.get("state")
    fits = isinstance(inner, dict)
    if fits and state["bit_generator"] == "MT19937":
        key, place = inner.get("key"), inner.get("pos")
        fits = isinstance(key, np.ndarray) and key.shape == (_WORDS_OF_MT19937,) and key.dtype.kind == "u"
        fits = fits and isinstance(place, int) and 0 <= place <= _WORDS_OF_MT19937
    if fits and "buffer_pos" in state:
        place, buffer = state["buffer_pos"], np.asarray(state.get("buffer"))
        fits = isinstance(place, int) and 0 <= place <= _MOST_BUFFERED and buffer.shape == (_MOST_BUFFERED,)
    if not fits:
        raise ArchiveError("The model holds a random generator whose state is damaged.")
    return state
