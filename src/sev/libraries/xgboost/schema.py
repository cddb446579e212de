"""The fields of XGBoost's model file, JSON or UBJSON, that are read here; numbers of the parameters are texts."""

from __future__ import annotations

from typing import NotRequired, TypedDict

#: Settings: numbers written as texts.
Parameters = dict[str, str]


class Tree(TypedDict):
    """One tree as parallel lists, one entry a node; a leaf keeps its value where a split keeps its threshold."""

    id: int
    tree_param: Parameters
    left_children: list[int]
    right_children: list[int]
    parents: list[int]
    split_indices: list[int]
    split_conditions: list[float]
    base_weights: list[float]
    default_left: list[int]
    loss_changes: NotRequired[list[float]]
    sum_hessian: NotRequired[list[float]]
    split_type: NotRequired[list[int]]
    categories: list[int]
    categories_nodes: list[int]
    categories_segments: list[int]
    categories_sizes: list[int]


class Encoding(TypedDict, total=False):
    """The categories of one column: numbers, or the bytes of texts that end at the offsets."""

    values: list[int]
    offsets: list[int]


class Encodings(TypedDict, total=False):
    """The categories of all columns (XGBoost 3.1)."""

    enc: list[Encoding]
    feature_segments: list[int]
    sorted_idx: list[int]


class Model(TypedDict):
    """The trees, or the weights of a linear booster."""

    gbtree_model_param: Parameters
    trees: list[Tree]
    tree_info: list[int]
    weights: list[float]
    iteration_indptr: NotRequired[list[int]]
    cats: NotRequired[Encodings]


class Booster(TypedDict):
    """A booster; that of "dart" holds another."""

    name: str
    model: Model
    gbtree: NotRequired[Booster]
    weight_drop: NotRequired[list[float]]


class Objective(TypedDict):
    """What was minimised."""

    name: str
    softmax_multiclass_param: NotRequired[Parameters]


class Learner(TypedDict):
    """The whole model."""

    learner_model_param: Parameters
    objective: Objective
    gradient_booster: Booster
    feature_names: NotRequired[list[str]]
    feature_types: NotRequired[list[str]]
