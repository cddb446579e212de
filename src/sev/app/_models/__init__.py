"""What travels over the JSON interface: requests and answers. The OpenAPI document is made from these classes."""

from sev.app._models._about import (
    About,
    Choice,
    Feature,
    Health,
    Limits,
    Model,
    ReferenceChoice,
    ServiceLimits,
    Table,
    TableColumn,
)
from sev.app._models._answers import (
    ChangeOut,
    Cube,
    CurveAnswer,
    CurvePoint,
    CurveRange,
    Distance,
    ExplainAnswer,
    Price,
    PriceAnswer,
    ReasonOut,
    ReasonsAnswer,
    ReferenceUsed,
    ScenarioOut,
    ScenariosDocument,
    SetOut,
    Step,
    Vertex,
)
from sev.app._models._base import (
    Answer,
    Cell,
    Decision,
    ErrorAnswer,
    ErrorBody,
    FeatureValue,
    Histogram,
    Message,
    Name,
    StatusName,
    ValuesMode,
    name_of,
)
from sev.app._models._requests import (
    CurveRequest,
    ExplainRequest,
    FeatureLimits,
    Person,
    PriceRequest,
    ReasonsRequest,
    ReferenceRequest,
    Scenario,
    ScenariosRequest,
)
from sev.app._models._table import (
    Condition,
    Group,
    GroupReason,
    GroupsAnswer,
    Operator,
    RowsAnswer,
    RowsRequest,
    RowSummary,
    ThresholdAnswer,
)

__all__ = [
    "About", "Answer", "Cell", "ChangeOut", "Choice", "Condition", "Cube", "CurveAnswer", "CurvePoint", "CurveRange",
    "CurveRequest", "Decision", "Distance", "ErrorAnswer", "ErrorBody", "ExplainAnswer", "ExplainRequest", "Feature",
    "FeatureLimits", "FeatureValue", "Group", "GroupReason", "GroupsAnswer", "Health", "Histogram", "Limits",
    "Message", "Model", "Name", "Operator", "Person", "Price", "PriceAnswer", "PriceRequest", "ReasonOut",
    "ReasonsAnswer", "ReasonsRequest", "ReferenceChoice", "ReferenceRequest", "ReferenceUsed", "RowSummary",
    "RowsAnswer", "RowsRequest", "Scenario", "ScenarioOut", "ScenariosDocument", "ScenariosRequest", "ServiceLimits",
    "SetOut", "StatusName", "Step", "Table", "TableColumn", "ThresholdAnswer", "ValuesMode", "Vertex", "name_of",
]  # fmt: skip
