import numpy as np
import pytest
from backends.networks.cases import make_data, make_mlp
from scipy.sparse import csr_matrix
from sklearn.neural_network import MLPClassifier

from sev.backends import CannotReadError
from sev.libraries.sklearn.read_networks import read_mlp as from_sklearn


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 5, 4)])
def test_margins_are_the_log_odds(activation, hidden):
    rows, _ = make_data()
    model = make_mlp(activation, hidden)
    backend = from_sklearn(model, "predict_proba")
    assert backend.n_columns == 7
    probability = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(backend.scores(backend.margins(backend.encode(rows))), probability, atol=1e-12)
    inside = (probability > 1e-6) & (probability < 1 - 1e-6)
    log_odds = np.log(probability[inside] / (1 - probability[inside]))
    np.testing.assert_allclose(backend.margins(rows)[inside], log_odds, atol=1e-8)


def test_layers_without_activation_between_them_become_one():
    assert len(from_sklearn(make_mlp("identity", (5, 4)), "predict_proba")._layers.weights) == 1


def test_sparse_rows_are_encoded():
    rows, _ = make_data()
    backend = from_sklearn(make_mlp("relu"), "predict_proba")
    np.testing.assert_array_equal(backend.encode(csr_matrix(rows)), rows)


def test_three_classes_are_left_to_the_black_box():
    rows, labels = make_data()
    model = MLPClassifier((4,), random_state=0).partial_fit(rows, labels + (rows[:, 0] > 1), classes=[0, 1, 2])
    with pytest.raises(CannotReadError, match="3 classes"):
        from_sklearn(model, "predict_proba")


def test_another_response_is_refused():
    with pytest.raises(CannotReadError, match="decision_function"):
        from_sklearn(make_mlp("relu"), "decision_function")
