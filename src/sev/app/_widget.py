"""The page inside a notebook: the same modules, answered by the kernel instead of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from sev._optional import require
from sev.app._errors import ServiceError, as_service_error
from sev.app._join import join_modules, page_styles, page_texts
from sev.app._models import (
    CurveRequest,
    ExplainRequest,
    LanguageName,
    Message,
    Name,
    PriceRequest,
    ReasonsRequest,
    RowsRequest,
    ScenariosRequest,
)
from sev.app._scheduler import Ticket
from sev.app._service import Service, Settings
from sev.app._table import Table
from sev.explainers import Explainer
from sev.typing import NativeTable

if TYPE_CHECKING:
    from anywidget import AnyWidget

    from sev.reports import CodesLike
    from sev.typing import JSONObject, JSONValue, Parsed

#: Calls that the server answers to GET.
_QUERIES = ("about", "rows", "threshold", "groups")


class _ThresholdRequest(Message):
    value: float
    model: int = 0


class _GroupsRequest(Message):
    by: Name
    model: int = 0
    language: LanguageName | None = None


class Answers:
    """Answers calls of the page by their names.

    Parameters
    ----------
    service : Service
        What answers.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._running = 0
        service.is_busy = lambda: self._running > 0

    def answer(self, content: Parsed) -> JSONObject:
        """The reply to a message ``{id, name, params}``: ``{id, result}`` or ``{id, error}``."""
        number = content.get("id") if isinstance(content, Mapping) else None
        self._running += 1
        try:
            return {"id": number, "result": self._make_call(content)}
        except Exception as error:  # a page gets an answer, whatever went wrong
            known = as_service_error(error)
            return {"id": number, "error": {**known.to_plain()["error"], "status": known.status}}
        finally:
            self._running -= 1

    def _make_call(self, content: Parsed) -> JSONValue:
        if not isinstance(content, Mapping) or not isinstance(content.get("name"), str):
            raise ServiceError("bad_input", "A call has a name and params.")
        service = self._service
        ticket = Ticket(service.settings.seconds)
        calls: dict[str, tuple[type[BaseModel], Callable[[Any], BaseModel | str]]] = {
            "about": (Message, lambda _: service.about()),
            "rows": (RowsRequest, service.rows),
            "threshold": (_ThresholdRequest, lambda wanted: service.threshold(wanted.model, wanted.value)),
            "groups": (_GroupsRequest, lambda wanted: service.groups(wanted.model, wanted.by, wanted.language)),
            "explain": (ExplainRequest, lambda wanted: service.explain(wanted, ticket)),
            "price": (PriceRequest, lambda wanted: service.price(wanted, ticket)),
            "curve": (CurveRequest, lambda wanted: service.curve(wanted, ticket)),
            "reasons": (ReasonsRequest, lambda wanted: service.reasons(wanted, ticket)),
            "scenarios": (ScenariosRequest, lambda wanted: service.scenarios(wanted, ticket)[0]),
        }
        name = content["name"]
        if name not in calls:
            raise ServiceError("not_found", f"There is no call {name[:100]!r}.")
        model, work = calls[name]
        params = dict(content.get("params") or {})
        if name in _QUERIES:  # in the address of a request these would be left out
            params = {key: one for key, one in params.items() if one is not None and key not in ("client", "sequence")}
        try:
            wanted = model.model_validate(params)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])[:200]
            raise ServiceError("bad_input", f"{place}: {first['msg']}.", place) from None
        result = work(wanted)
        return result.model_dump(mode="json") if isinstance(result, BaseModel) else result


def make_widget(
    explainer: Explainer,
    X: NativeTable | None = None,
    *,
    others: Mapping[str, Explainer] | None = None,
    codes: CodesLike | None = None,
    title: str = "",
    language: str | None = None,
) -> AnyWidget:
    """The page as a widget of JupyterLab, VS Code, marimo and others that show anywidgets.

    Parameters
    ----------
    explainer : Explainer
        The explainer.
    X : table, default=None
        Decisions to look at; None: only rows that are typed in.
    others : mapping of str to Explainer, default=None
        Another model to show beside it, by its name.
    codes : path or mapping, default=None
        Reason codes; see :func:`sev.reports.load_codes`.
    title : str, default=""
        Heading.
    language : str, default=None
        "en", "de" or "es"; None is that of the labels.

    Returns
    -------
    anywidget.AnyWidget
        The widget; what is last in a cell is shown.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> page = sev.app.make_widget(explainer, X)  # doctest: +SKIP
    """
    anywidget = require("anywidget", extra="app", feature="The widget")
    traitlets = require("traitlets", extra="app", feature="The widget")
    table = None if X is None else Table.of_frame(explainer.form.to_frame(X))
    named = [(type(explainer.model).__name__, explainer), *(others or {}).items()]
    service = Service(named, table, codes=codes, settings=Settings(title=title))
    service.has_page = True
    service.start()
    answers = Answers(service)
    texts = page_texts()
    chosen = language or service.about().language

    class PageWidget(anywidget.AnyWidget):  # type: ignore[name-defined]
        """One decision, what led to it, what would change it."""

        _esm = join_modules("widget.js") + "export default $entry.widget;\n"
        texts = traitlets.Dict().tag(sync=True)
        language = traitlets.Unicode().tag(sync=True)
        css = traitlets.Unicode().tag(sync=True)

        def close(self) -> None:
            """End the work in the background with the widget."""
            service.close()
            super().close()

    widget = PageWidget(texts=texts, language=chosen if chosen in texts else "en", css=page_styles())
    widget.on_msg(lambda shown, content, buffers: shown.send(answers.answer(content)))
    return widget
