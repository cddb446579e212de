"""What one feature is: raw columns, groups, one-hot blocks; and rows mixed from two others, feature by feature."""

from sev.space._features import Feature, FeatureSpace
from sev.space._mixing import Mixer, differing_features
from sev.space._tables import TableForm, is_quantity

__all__ = ["Feature", "FeatureSpace", "Mixer", "TableForm", "differing_features", "is_quantity"]
