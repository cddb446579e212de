"""InterpretML: explainable boosting machines."""

from sev._registry import Library

LIBRARY = Library(
    package="interpret",
    distribution="interpret-core",
    read={"interpret.ExplainableBoostingClassifier": ".read:read_explainable_boosting"},
    categories={"interpret.ExplainableBoostingClassifier": ".read:category_places"},
    curves={"interpret.ExplainableBoostingClassifier": ".curves:through_terms"},
    trusted=frozenset(("interpret.glassbox._ebm._ebm.ExplainableBoostingClassifier",)),
)
