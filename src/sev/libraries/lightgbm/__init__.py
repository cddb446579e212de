"""LightGBM: classifiers and raw boosters."""

from sev._registry import Library

LIBRARY = Library(
    package="lightgbm",
    extra="boosters",
    read={"lightgbm.LGBMClassifier": ".read:read_classifier", "lightgbm.Booster": ".read:read_booster"},
    score={"lightgbm.Booster": ".read:booster_scorer"},
    categories=dict.fromkeys(("lightgbm.LGBMModel", "lightgbm.Booster"), ".read:category_places"),
    trained_columns={"lightgbm.Booster": ".categories:trained_columns"},
    stored_categories=dict.fromkeys(("lightgbm.LGBMModel", "lightgbm.Booster"), ".categories:stored_categories"),
    train={"lightgbm.LGBMClassifier": "trees"},
    reweight={"lightgbm.LGBMClassifier": ".reweight:LightBoosting"},
    to_bytes={"lightgbm.Booster": ".files:booster_to_bytes"},
    from_bytes=".files:booster_from_bytes",
    endings=(".txt", ".lgb"),
    trusted=frozenset(("lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier")),
    builders={"lightgbm.basic.Booster": ".files:booster_from_state"},
)
