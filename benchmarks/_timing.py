"""How long a call takes."""

from __future__ import annotations

import time


def clock(call, repeats: int = 5) -> float:
    """Best time of some calls, in seconds of the processor: on an idle machine the same as on the wall."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)
