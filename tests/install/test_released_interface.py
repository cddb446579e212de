"""What 0.1 documented is still there: names, parameters, attributes of results, commands and their options."""

import inspect
import operator
import warnings

import pytest
import show_cases
from click.testing import CliRunner

import sev
from sev.cli import main

NAMES = (
    *("Explainer", "Explanation", "Explanations", "Status", "load", "compare", "optimize", "reasons", "report"),
    *("compare_methods", "comparison.L2X", "torch_pipeline", "losses.SEVLoss", "losses.all_opt_minus"),
    *("SEVLogisticRegression", "SEVMLPClassifier", "SEVGradientBoostingClassifier", "references.NearestRow"),
    *("batch.explain_files", "batch.PartitionExplainer.of", "batch.explain_dask", "batch.explain_ray"),
    *("batch.explain_spark", "backends.register", "backends.networks.torch_pipeline", "testing.brute_force"),
    *(f"datasets.fetch_{name}" for name in ("adult", "compas", "heloc", "diabetes130")),
    *("datasets.load_german_credit", "datasets.load_mimic_oasis"),
    *(f"plots.{name}" for name in ("changes", "feature_shares", "flips", "flow", "hypercube", "methods", "plane")),
    *(f"plots.{name}" for name in ("regions", "score_path", "sizes", "together", "tradeoff")),
)

PARAMETERS = {
    "Explainer": "model X_train y_train target reference groups restricted threshold allow_positive_reference",
    "Explainer.explain": "X kind restricted max_size max_sets time_limit n_jobs progress",
    "optimize": "model X y objective",
    "reasons": "explanations codes max_reasons explainer hashes",
    "report": "explanations path title decisions wording language explainer",
}

OF_ONE = (
    *("status", "size", "lower_bound", "features", "sets", "sets_complete", "query", "reference", "result", "score"),
    *("result_score", "verify", "to_frame", "to_text", "to_dict", "plot"),
)
OF_MANY = (
    *("sizes", "statuses", "to_frame", "mean_size", "summary", "feature_shares", "to_json", "from_json", "verify"),
    *("plot_sizes", "plot_features", "plot_together"),
)

OPTIONS = {
    "fit": "--model --data --label --drop --reference --group --target --threshold --allow-positive-reference --output",
    "explain": "--output --max-size --max-sets --time-limit --sets --keep --jobs --engine --address --rows-per-part",
    "reasons": "--codes --id --max-reasons --output",
    "train": "--model --data --label --objective --max-accuracy-loss --output",
    "compare": "--data --label --max-rows --restricted",
    "report": "--id --title --output",
    "demo": "--help",
    "reproduce": "--help",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_first_release_are_there(name):
    if name.startswith(("losses", "comparison.L2X", "torch_pipeline", "backends.networks.torch")):
        pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # such a name works, and names its replacement
        assert callable(operator.attrgetter(name)(sev))


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_of_the_first_release_are_there_in_their_order(name):
    known = [one for one in inspect.signature(operator.attrgetter(name)(sev)).parameters if one != "self"]
    documented = PARAMETERS[name].split()
    assert [one for one in known if one in documented] == documented


def test_results_have_the_attributes_of_the_first_release():
    many = show_cases.every_status()
    one = next(one for one in many if one.sets)
    assert [name for name in OF_ONE if not hasattr(one, name)] == []
    assert [name for name in OF_MANY if not hasattr(many, name)] == []


@pytest.mark.parametrize("command", OPTIONS)
def test_commands_of_the_first_release_take_their_options(command):
    told = CliRunner().invoke(main, [command, "--help"]).output
    documented = OPTIONS[command].split()
    assert [option for option in documented if option not in told] == []
