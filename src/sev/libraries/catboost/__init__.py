"""CatBoost: classifiers of symmetric and other trees."""

from sev._registry import Library

LIBRARY = Library(
    package="catboost",
    extra="boosters",
    read={"catboost.CatBoostClassifier": ".read:read_classifier"},
    trained_columns={"catboost.CatBoost": ".categories:trained_columns"},
    stored_categories={"catboost.CatBoost": ".categories:stored_categories"},
    categories={"catboost.CatBoost": ".read:category_places"},
    decide={"catboost.CatBoostClassifier": ".read:decision_rule"},
    train={"catboost.CatBoostClassifier": "trees"},
    reweight={"catboost.CatBoostClassifier": ".reweight:CatBoosting"},
    from_bytes=".files:classifier_from_bytes",
    endings=(".cbm",),
    trusted=frozenset(("catboost.core.CatBoost", "catboost.core.CatBoostClassifier")),
    builders={
        "catboost.core.CatBoost": ".files:model_from_state",
        "catboost.core.CatBoostClassifier": ".files:classifier_from_state",
    },
)
