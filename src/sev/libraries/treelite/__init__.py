"""treelite: tree models of any library in its common form."""

from sev._registry import Library

LIBRARY = Library(
    package="treelite",
    read={"treelite.Model": ".read:read_model"},
    score={"treelite.Model": ".read:model_scorer"},
    categories={"treelite.Model": ".read:category_places"},
    to_bytes={"treelite.Model": ".files:model_to_bytes"},
    from_bytes=".files:model_from_bytes",
    endings=(".treelite",),
)
