"""Files written by earlier versions load in this one."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
from packaging.version import Version

import sev
from sev.files import _container

FILES = sorted((Path(__file__).parent / "data").glob("*.sev"))


def test_there_is_a_file_of_the_first_format():
    assert "format-1.sev" in {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_loads_and_explains(path):
    """A logistic regression ``score = 1 / (1 + exp(-(2 a - b)))`` with the reference (-1, 0)."""
    written_with = _container.unpack(path.read_bytes())[0]["versions"]["scikit-learn"]
    if Version(written_with) > Version(sklearn.__version__):
        pytest.skip(f"scikit-learn {written_with} wrote the model, and models of later versions need not load")
    explainer = sev.load(path)
    assert explainer.backend == "linear"
    assert explainer.restricted == ()
    many = explainer.explain([[1.0, 0.0], [0.2, -3.0], [-1.0, 0.5]])
    assert many.statuses.tolist() == ["optimal", "optimal", "not_target"]
    assert many[0].features == ("x0",)
    assert many[1].features == ("x0", "x1")
    np.testing.assert_allclose(many.scores[0], 1 / (1 + np.exp(-2.0)))


def test_it_says_what_wrote_it():
    manifest, _ = _container.unpack(FILES[0].read_bytes())
    assert manifest["format_version"] == 1
    assert {"numpy", "scikit-learn", "skops", "python"} <= set(manifest["versions"])
