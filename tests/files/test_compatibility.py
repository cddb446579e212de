"""Files written by earlier versions load in this one."""

import warnings
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


RELEASED = sorted((Path(__file__).parent / "data" / "released-0.1").glob("*.sev"))


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_files_of_the_first_release_give_the_answers_that_they_gave(path):
    """Each was written by 0.1, beside the explanations that it gave for twenty rows."""
    package = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost"}.get(path.stem)
    if package:
        pytest.importorskip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # another version of scikit-learn than it was saved with
        explainer = sev.load(path)
    told = sev.Explanations.from_json(path.with_suffix(".json"))
    again = explainer.explain(told._queries)
    assert again.statuses.tolist() == told.statuses.tolist()
    assert again.lower_bounds.tolist() == told.lower_bounds.tolist()
    assert [set(one.sets) for one in again] == [set(one.sets) for one in told]
    np.testing.assert_allclose(again.scores, told.scores, rtol=1e-6)
    np.testing.assert_allclose(again.result_scores, told.result_scores, rtol=1e-6)
    told.verify(explainer)


def test_there_are_files_of_the_first_release():
    assert len(RELEASED) == 8
