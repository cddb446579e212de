"""scikit-learn: linear and naive Bayes models, trees, networks, and the wrappers around models of any library."""

from sev._registry import Library
from sev.libraries.sklearn.trusted import FUNCTIONS, OBJECTS

_LINEAR = (
    *("LogisticRegression", "LogisticRegressionCV", "RidgeClassifier", "RidgeClassifierCV", "LinearSVC"),
    *("Perceptron", "PassiveAggressiveClassifier", "LinearDiscriminantAnalysis"),
)
_MEANS = ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees", "Bagging")
_SEARCHES = tuple(
    f"sklearn.{name}" for name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
)
_THRESHOLDS = ("sklearn.FixedThresholdClassifier", "sklearn.TunedThresholdClassifierCV")

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
_SELECTIONS = ("VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFromModel", "RFE", "RFECV")

LIBRARY = Library(
    package="sklearn",
    distribution="scikit-learn",
    read={
        **dict.fromkeys((f"sklearn.{name}" for name in _LINEAR), ".read_linear:read_linear"),
        "sklearn.SGDClassifier": ".read_linear:read_sgd",
        "sklearn.SVC": ".read_linear:read_svc",
        "sklearn.GaussianNB": ".read_bayes:read_gaussian_nb",
        "sklearn.BernoulliNB": ".read_bayes:read_bernoulli_nb",
        "sklearn.CategoricalNB": ".read_bayes:read_categorical_nb",
        "sklearn.MultinomialNB": ".read_bayes:read_multinomial_nb",
        **dict.fromkeys((f"sklearn.{name}Classifier" for name in _MEANS), ".read_trees:read_mean"),
        "sklearn.GradientBoostingClassifier": ".read_trees:read_gradient_boosting",
        "sklearn.HistGradientBoostingClassifier": ".read_trees:read_hist_gradient_boosting",
        "sklearn.AdaBoostClassifier": ".read_trees:read_ada_boost",
        "sklearn.MLPClassifier": ".read_networks:read_mlp",
    },
    categories={
        "sklearn.ColumnTransformer": ".categories:places_in_transformer",
        "sklearn.HistGradientBoostingClassifier": ".categories:places_in_hist_boosting",
        **dict.fromkeys(
            ("sklearn.CategoricalNB", "sklearn.OneHotEncoder", "sklearn.OrdinalEncoder", "sklearn.TargetEncoder"),
            ".categories:every_place",
        ),
        "category_encoders.BaseEncoder": ".categories:every_place",
    },
    decide=dict.fromkeys(_THRESHOLDS, ".wrappers:decision_rule"),
    hand_on={
        "sklearn.Pipeline": ".wrappers:last_step",
        "sklearn.StackingClassifier": ".wrappers:final_estimator",
        "sklearn.FrozenEstimator": ".wrappers:frozen_estimator",
        **dict.fromkeys(_SEARCHES, ".wrappers:best_estimator"),
        **dict.fromkeys(("sklearn.SelfTrainingClassifier", "sklearn.RFE"), ".wrappers:fitted_estimator"),
    },
    unwrap={
        "sklearn.Pipeline": ".wrappers:take_pipeline_off",
        "sklearn.FrozenEstimator": ".wrappers:take_freeze_off",
        "sklearn.CalibratedClassifierCV": ".wrappers:take_calibration_off",
        "sklearn.OneVsRestClassifier": ".wrappers:take_one_vs_rest_off",
        "sklearn.RFE": ".wrappers:take_selection_off",
        "sklearn.SelfTrainingClassifier": ".wrappers:take_self_training_off",
        **dict.fromkeys(_SEARCHES, ".wrappers:take_search_off"),
        **dict.fromkeys(_THRESHOLDS, ".wrappers:take_threshold_off"),
    },
    votes=dict.fromkeys(("sklearn.SVC", "sklearn.NuSVC"), ".votes:vote_scores"),
    train={
        **dict.fromkeys(("sklearn.LogisticRegression", "sklearn.LogisticRegressionCV"), "linear"),
        "sklearn.MLPClassifier": "network",
        **dict.fromkeys(("sklearn.GradientBoostingClassifier", "sklearn.HistGradientBoostingClassifier"), "trees"),
    },
    reweight={
        "sklearn.GradientBoostingClassifier": ".reweight:SklearnBoosting",
        "sklearn.HistGradientBoostingClassifier": ".reweight:HistBoosting",
    },
    curves={
        "sklearn.Pipeline": ".curves:through_pipeline",
        "sklearn.ColumnTransformer": ".curves:through_column_transformer",
        "sklearn.FeatureUnion": ".curves:through_union",
        **dict.fromkeys((f"sklearn.{name}" for name in _SCALERS), ".curves:through_scaler"),
        **dict.fromkeys((f"sklearn.{name}" for name in _SELECTIONS), ".curves:through_selection"),
        "sklearn.SimpleImputer": ".curves:through_imputer",
        "sklearn.KBinsDiscretizer": ".curves:through_bins",
        "sklearn.Binarizer": ".curves:through_threshold",
        "sklearn.SplineTransformer": ".curves:through_splines",
        "sklearn.PolynomialFeatures": ".curves:through_powers",
        "sklearn.FunctionTransformer": ".curves:through_function",
        "sklearn.GaussianNB": ".curves:through_gaussian",
        "sklearn.BernoulliNB": ".curves:through_bernoulli",
    },
    trusted=OBJECTS,
    trusted_functions=FUNCTIONS,
    builders={
        "sklearn.tree._tree.Tree": ".files:tree",
        "sklearn.neighbors._kd_tree.KDTree": ".files:kd_tree",
        "sklearn.neighbors._ball_tree.BallTree": ".files:ball_tree",
        "sklearn.metrics._dist_metrics.EuclideanDistance64": ".files:euclidean_distance",
        "sklearn.metrics._dist_metrics.ManhattanDistance64": ".files:manhattan_distance",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64": ".files:minkowski_distance",
    },
)
