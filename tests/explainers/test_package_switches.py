"""A warm call is a straight walk: it goes from one package into another a few times only."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("lightgbm")
FILE = Path(__file__).parents[2] / "benchmarks" / "package_switches.py"
MOST = 20


@pytest.mark.skipif(not FILE.exists(), reason="the source distribution has no benchmarks")
def test_a_warm_call_switches_packages_at_most_twenty_times():
    spec = importlib.util.spec_from_file_location("package_switches", FILE)
    counting = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(counting)
    for explainer, rows in counting.made().values():
        explainer.explain(rows)
        found = counting.count_switches(lambda explainer=explainer, rows=rows: explainer.explain(rows))
        assert 5 < len(found) <= MOST, "\n".join(f"{caller} -> {called}" for caller, called in found)
