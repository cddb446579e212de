"""XGBoost: classifiers and raw boosters of trees."""

from sev._registry import Library

LIBRARY = Library(
    package="xgboost",
    extra="boosters",
    read={"xgboost.XGBClassifier": ".read:read_classifier", "xgboost.Booster": ".read:read_booster"},
    score={"xgboost.Booster": ".read:booster_scorer"},
    categories=dict.fromkeys(("xgboost.XGBModel", "xgboost.Booster"), ".read:category_places"),
    trained_columns={"xgboost.Booster": ".categories:trained_columns"},
    stored_categories=dict.fromkeys(("xgboost.XGBModel", "xgboost.Booster"), ".categories:stored_categories"),
    train={"xgboost.XGBClassifier": "trees"},
    reweight={"xgboost.XGBClassifier": ".reweight:XGBoosting"},
    to_bytes={"xgboost.Booster": ".files:booster_to_bytes"},
    from_bytes=".files:booster_from_bytes",
    endings=(".ubj", ".json"),
    trusted=frozenset(
        ("xgboost.core.Booster", "xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRFClassifier"),
    ),
    builders={"xgboost.core.Booster": ".files:booster_from_state"},
)
