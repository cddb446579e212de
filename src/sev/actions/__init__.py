"""What may change, and to which values."""

from sev.actions._actions import Actions
from sev.actions._bound import BoundActions, column_of
from sev.actions._bounds import Between, Shifts, between
from sev.actions._costs import move_costs
from sev.actions._destinations import (
    ChoiceDestinations,
    Destinations,
    FeatureDestinations,
    Moves,
    NumberDestinations,
    NumberTable,
)
from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.actions._ground import CellKey, ChoiceGround, FeatureGround, Ground, NumberGround, cell_key
from sev.actions._kept_rules import KeptRules
from sev.actions._nearest import NearestReferences, PermittedReferences, reference_destinations
from sev.actions._numbers import grid_ends, permitted_number
from sev.actions._rules import Comparison, Constant, Rule
from sev.actions._suggest import suggest_actions

__all__ = [
    "Actions",
    "Between",
    "BoundActions",
    "CellKey",
    "ChoiceDestinations",
    "ChoiceGround",
    "Comparison",
    "Constant",
    "Destinations",
    "FeatureDestinations",
    "FeatureGround",
    "Ground",
    "KeptRules",
    "Moves",
    "NearestReferences",
    "NumberDestinations",
    "NumberGround",
    "NumberTable",
    "PermittedReferences",
    "Rule",
    "Shifts",
    "between",
    "cell_key",
    "column_of",
    "first_on_grid",
    "grid_ends",
    "last_on_grid",
    "move_costs",
    "on_grid",
    "permitted_number",
    "reference_destinations",
    "suggest_actions",
]
