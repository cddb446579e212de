"""Counters and durations in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Answers by path and status, and how long they took; no value of any request is kept."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, float] = {}
        self._buckets: Counter[tuple[str, float]] = Counter()

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count one answer.

        Parameters
        ----------
        path : str
            Path of the route, not of the request.
        status : int
            HTTP status.
        seconds : float
            How long it took.
        """
        with self._lock:
            self._answers[path, status] += 1
            self._seconds[path] = self._seconds.get(path, 0.0) + seconds
            for bound in _BUCKETS:
                if seconds <= bound:
                    self._buckets[path, bound] += 1

    def to_text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All counters, with gauges of the moment.

        Parameters
        ----------
        gauges : mapping of str to (str, float)
            For each name its help and its value.
        """
        with self._lock:
            answers, seconds, buckets = Counter(self._answers), dict(self._seconds), Counter(self._buckets)
        totals: Counter[str] = Counter()
        lines = ["# HELP sev_requests_total Answers by path and status.", "# TYPE sev_requests_total counter"]
        for (path, status), number in sorted(answers.items()):
            totals[path] += number
            lines.append(f'sev_requests_total{{path="{path}",status="{status}"}} {number}')
        lines += [
            "# HELP sev_request_seconds Time from request to answer.",
            "# TYPE sev_request_seconds histogram",
        ]
        for path in sorted(totals):
            lines += [
                f'sev_request_seconds_bucket{{path="{path}",le="{bound:g}"}} {buckets[path, bound]}'
                for bound in _BUCKETS
            ]
            lines.append(f'sev_request_seconds_bucket{{path="{path}",le="+Inf"}} {totals[path]}')
            lines.append(f'sev_request_seconds_sum{{path="{path}"}} {seconds[path]:.6f}')
            lines.append(f'sev_request_seconds_count{{path="{path}"}} {totals[path]}')
        for name, (text, value) in gauges.items():
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"
