"""skorch: binary classifiers around torch modules."""

from sev._registry import Library

LIBRARY = Library(
    package="skorch",
    read=dict.fromkeys(("skorch.NeuralNetClassifier", "skorch.NeuralNetBinaryClassifier"), ".read:read_classifier"),
    decide={"skorch.NeuralNetBinaryClassifier": ".read:decision_rule"},
)
