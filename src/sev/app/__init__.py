"""The what-if page and its JSON interface: one decision, what led to it, what would change it."""

from sev._optional import name_missing

with name_missing("fastapi", "pydantic", "starlette", extra="app", feature="The page"):
    from sev.app._server import address_of, create_app, new_token, open_socket, run
    from sev.app._service import Service, Settings
    from sev.app._table import Table
    from sev.app._widget import make_widget

__all__ = ["Service", "Settings", "Table", "address_of", "create_app", "make_widget", "new_token", "open_socket", "run"]
