"""The web around the service: routes, static files, and the process that listens."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from sev._optional import require
from sev.app._errors import ServiceError, as_service_error
from sev.app._join import join_modules
from sev.app._metrics import Metrics
from sev.app._models import (
    About,
    Condition,
    CurveAnswer,
    CurveRequest,
    ErrorAnswer,
    ExplainAnswer,
    ExplainRequest,
    GroupsAnswer,
    Health,
    LanguageName,
    Name,
    Person,
    PriceAnswer,
    PriceRequest,
    ReasonsAnswer,
    ReasonsRequest,
    RowsAnswer,
    RowsRequest,
    ScenariosDocument,
    ScenariosRequest,
    StatusName,
    ThresholdAnswer,
)
from sev.app._scheduler import Scheduler, Shared, Ticket, requests_at_once
from sev.app._security import Guard, silent_warnings
from sev.app._service import Service
from sev.core import __version__
from sev.exceptions import InputError, SevError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from starlette.types import ASGIApp

_Body = TypeVar("_Body", bound=Person)

_CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition)
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": text}
    for status, text in {
        400: "The request does not fit the model or the table.",
        401: "The token is missing or wrong.",
        403: "Wrong host or origin, or an edit of a page that is read only.",
        404: "There is no such model, row, column or feature.",
        409: "A newer request of the same client has arrived.",
        413: "The request is too large.",
        422: "The request does not have the required form.",
        429: "Too many requests are waiting.",
        500: "The service failed.",
        504: "The answer took longer than a request may take.",
    }.items()
}


def create_app(
    service: Service, *, with_page: bool = True, hosts: Iterable[str] = (), token: str | None = None
) -> Guard:
    """The ASGI application.

    Parameters
    ----------
    service : Service
        What answers.
    with_page : bool, default=True
        Serve the page as well, not only the interface.
    hosts : iterable of str
        Host names by which the service may be called, besides localhost and IP addresses.
    token : str, default=None
        Required of every request for data.

    Returns
    -------
    starlette.applications.Starlette
        An ASGI application, for :func:`run` or a server of your own.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> service = sev.app.Service([("loans", explainer)])
    >>> app = sev.app.create_app(service)
    """
    metrics = Metrics()
    scheduler = _scheduler_for(service)
    service.is_busy = lambda: scheduler.running > 0
    service.has_page = with_page

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with silent_warnings():  # a warning may quote what a person typed
            scheduler.open()
            service.start()
            try:
                yield
            finally:
                service.close()
                scheduler.close()

    app = FastAPI(
        title="sev",
        version=__version__,
        description="The smallest change that would have led to another decision: proven, and checked by the model.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # its pages load scripts from other hosts
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_error_handlers(app)
    _add_requests_about_one(app, service, scheduler)
    _add_requests_about_all(app, service, scheduler)
    _add_operations(app, service, scheduler, metrics)
    if with_page:
        _add_page(app)
    return Guard(app, hosts=hosts, token=token, body_bytes=service.settings.body_bytes, metrics=metrics)


def _scheduler_for(service: Service) -> Scheduler:
    lanes, edits = {"table": 2, "file": 1}, []
    for served in service.served_models:
        task = served.explainer.tasks[0]
        row = served.explainer.form.to_native(served.explainer.sample.iloc[:1])
        lanes[f"model-{served.index}"] = at_once = requests_at_once(partial(task.scorer.scores, row))
        if at_once <= (os.cpu_count() or 1):  # a model that waits for something else is not held up by Python
            edits.append(f"edits-{served.index}")
            lanes[edits[-1]] = at_once
    settings = service.settings
    return Scheduler(lanes, most_waiting=settings.most_waiting, seconds=settings.seconds, one_by_one=edits)


def _add_error_handlers(app: FastAPI) -> None:
    async def answer_error(request: Request, error: Exception) -> Response:
        return _make_response(as_service_error(error))

    async def answer_shape(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _make_response(_shape_error(error.errors()), 422)

    async def answer_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        codes = {404: "not_found", 405: "not_found"}
        found = ServiceError(codes.get(error.status_code, "bad_input"), str(error.detail))
        return _make_response(found, error.status_code, error.headers)

    app.add_exception_handler(SevError, answer_error)
    app.add_exception_handler(Exception, answer_error)  # raised again after the answer, for the guard to log
    app.add_exception_handler(RequestValidationError, answer_shape)
    app.add_exception_handler(HTTPException, answer_http)


def _shape_error(errors: Sequence[ErrorDetails]) -> ServiceError:
    """The first thing that is wrong with the shape of a request; what was sent is not repeated."""
    first = errors[0]
    parts, message = first["loc"], first["msg"]
    # a cell that has none of the permitted types: one error for each type, called after it
    if {"bool", "int", "float", "str"} <= {one["loc"][-1] for one in errors if one["loc"][:-1] == parts[:-1]}:
        parts, message = parts[:-1], "Input should be a finite number, a text, true, false or null"
    place = ".".join(str(part) for part in parts if part not in ("body", "query"))[:200]
    return ServiceError("bad_input", f"{place or 'The body'}: {message}.", place or None)


def _make_response(
    error: ServiceError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    body = json.dumps(error.to_plain(), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status_code=status or error.status, media_type="application/json", headers=headers)


def _to_json(answer: BaseModel) -> bytes:
    return answer.model_dump_json().encode()


def _add_requests_about_one(app: FastAPI, service: Service, scheduler: Scheduler) -> None:
    async def answer(
        request: Request, body: _Body, work: Callable[[_Body, Ticket], BaseModel], shared: Shared | None = None
    ) -> Response:
        service.served_model(body.model)
        path = request.url.path
        edits = f"edits-{body.model}"
        content = await scheduler.run(
            edits if shared is not None and edits in scheduler.lanes else f"model-{body.model}",
            lambda ticket: _to_json(work(body, ticket)),
            client=(path, str(body.model), body.client) if body.client else (),
            sequence=body.sequence,
            is_gone=request.is_disconnected,
            shared=shared,
        )
        return Response(content, media_type="application/json")

    def explain_together(bodies: Sequence[ExplainRequest], tickets: Sequence[Ticket]) -> Iterator[bytes | Exception]:
        for one in service.explain_together(bodies, tickets):
            yield one if isinstance(one, Exception) else _to_json(one)

    @app.post("/api/explain", response_model=ExplainAnswer, responses=_ERRORS, tags=["one decision"])
    async def explain(body: ExplainRequest, request: Request) -> Response:
        """Score, decision, all smallest sets of changes, and how certain they are."""
        service.served_model(body.model)
        shared = Shared(("explain", body.mode), body, explain_together) if service.can_join(body) else None
        return await answer(request, body, service.explain, shared)

    @app.post("/api/price", response_model=PriceAnswer, responses=_ERRORS, tags=["one decision"])
    async def price(body: PriceRequest, request: Request) -> Response:
        """What it costs that features are locked: size with and without each lock."""
        return await answer(request, body, service.price)

    @app.post("/api/curve", response_model=CurveAnswer, responses=_ERRORS, tags=["one decision"])
    async def curve(body: CurveRequest, request: Request) -> Response:
        """The score along one feature, all others as they are, and where the decision turns."""
        return await answer(request, body, service.curve)

    @app.post("/api/reasons", response_model=ReasonsAnswer, responses=_ERRORS, tags=["one decision"])
    async def reasons(body: ReasonsRequest, request: Request) -> Response:
        """Reason codes and sentences as they would go out."""
        return await answer(request, body, service.reasons)

    @app.post(
        "/api/scenarios",
        response_model=ScenariosDocument,
        responses={**_ERRORS, 200: {"content": {"text/html": {}}, "description": "The file."}},
        tags=["one decision"],
    )
    async def scenarios(body: ScenariosRequest, request: Request) -> Response:
        """Scenarios with their answers as one file: HTML that needs nothing else, or JSON."""
        for one in body.scenarios:
            service.served_model(one.request.model)
        text, media = await scheduler.run("file", lambda ticket: service.scenarios(body, ticket))
        ending = "json" if body.format == "json" else "html"
        headers = {"content-disposition": f'attachment; filename="scenarios.{ending}"'}
        return Response(text.encode(), media_type=media, headers=headers)


def _add_requests_about_all(app: FastAPI, service: Service, scheduler: Scheduler) -> None:
    async def answer(request: Request, work: Callable[[], BaseModel]) -> Response:
        content = await scheduler.run("table", lambda ticket: _to_json(work()), is_gone=request.is_disconnected)
        return Response(content, media_type="application/json")

    @app.get("/api/about", response_model=About, responses=_ERRORS, tags=["all decisions"])
    async def about(request: Request) -> Response:
        """Models, features, references and limits: all that a page needs to start."""
        return await answer(request, service.about)

    @app.get("/api/rows", response_model=RowsAnswer, responses=_ERRORS, tags=["all decisions"])
    async def rows(
        request: Request,
        model: Annotated[int, Query(ge=0)] = 0,
        offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        search: Annotated[str, Query(max_length=200)] = "",
        sort: Annotated[Name | None, Query()] = None,
        descending: bool = False,
        status: Annotated[list[StatusName], Query(max_length=6)] = [],  # noqa: B006
        size: Annotated[list[int], Query(max_length=50)] = [],  # noqa: B006
        uses: Annotated[Name | None, Query()] = None,
        where: Annotated[list[str], Query(max_length=20, description='JSON, such as ["duration", ">=", 24].')] = [],  # noqa: B006
        columns: Annotated[list[Name], Query(max_length=500)] = [],  # noqa: B006
    ) -> Response:
        """A page of the table; statuses that are not known yet are computed in the background."""
        wanted = RowsRequest(
            model=model, offset=offset, limit=limit, search=search, sort=sort, descending=descending, status=status,
            size=size, uses=uses, where=[_read_condition(one) for one in where], columns=columns,
        )  # fmt: skip
        return await answer(request, lambda: service.rows(wanted))

    @app.get("/api/threshold", response_model=ThresholdAnswer, responses=_ERRORS, tags=["all decisions"])
    async def threshold(
        request: Request,
        value: Annotated[float, Query(allow_inf_nan=False)],
        model: Annotated[int, Query(ge=0)] = 0,
    ) -> Response:
        """How many decisions of the table would turn with another threshold."""
        return await answer(request, lambda: service.threshold(model, value))

    @app.get("/api/groups", response_model=GroupsAnswer, responses=_ERRORS, tags=["all decisions"])
    async def groups(
        request: Request, by: Name, model: Annotated[int, Query(ge=0)] = 0, language: LanguageName | None = None
    ) -> Response:
        """Sizes, reasons and shares without a change, by the values of a column."""
        return await answer(request, lambda: service.groups(model, by, language))


def _read_condition(text: str) -> Condition:
    try:
        return _CONDITION.validate_json(text)
    except ValidationError:
        message = 'where must be a JSON array of column, operator and value, such as ["duration", ">=", 24].'
        raise ServiceError("bad_input", message, "where") from None


def _add_operations(app: FastAPI, service: Service, scheduler: Scheduler, metrics: Metrics) -> None:
    @app.get("/healthz", response_model=Health, tags=["operation"])
    async def healthz() -> Health:
        """Whether the service answers."""
        return Health(version=__version__)

    @app.get("/metrics", tags=["operation"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics_text() -> Response:
        """Counters and durations, in the text format of Prometheus."""
        gauges = {
            "sev_requests_running": ("Requests that run now.", float(scheduler.running)),
            "sev_requests_waiting": ("Requests that wait for a thread.", float(scheduler.waiting)),
            "sev_rows_known": ("Rows of the table whose status is known, over all models.", float(service.n_known)),
            "process_resident_memory_bytes": ("Resident memory of the process.", float(_resident_bytes())),
        }
        return Response(metrics.to_text(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")


def _resident_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        import resource

        # bytes on macOS, the only system without /proc that counts here
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _add_page(app: FastAPI) -> None:
    with as_file(files("sev.app").joinpath("page")) as folder:
        index = folder / "index.html"
        if not index.is_file():
            raise InputError("The files of the page are missing from this installation.")
        script = join_modules("served.js").encode()
        tag = f'"{hashlib.sha256(script).hexdigest()[:32]}"'

        @app.get("/page/served.js", include_in_schema=False)
        async def served_script(request: Request) -> Response:
            """All modules in one answer: one after the other, each would wait for the one that imports it."""
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers={"etag": tag})
            return Response(script, media_type="text/javascript; charset=utf-8", headers={"etag": tag})

        app.mount("/page", StaticFiles(directory=folder), name="page")

        @app.get("/", include_in_schema=False)
        async def page() -> Response:
            return Response(index.read_bytes(), media_type="text/html; charset=utf-8")


# -- the process -------------------------------------------------------------------------------------------------------


def new_token() -> str:
    """A token that nobody can guess.

    Returns
    -------
    str
        For ``SEV_TOKEN``.

    Examples
    --------
    >>> import sev
    >>> len(sev.app.new_token()) >= 32
    True
    """
    return secrets.token_urlsafe(32)


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Parameters
    ----------
    host : str
        Address or name to listen on.
    port : int
        Port; 0 is any free one.

    Returns
    -------
    socket.socket
        Bound and listening.

    Raises
    ------
    InputError
        If the address or the port is not available.

    Examples
    --------
    >>> import sev
    >>> with sev.app.open_socket("127.0.0.1", 0) as listening:
    ...     listening.getsockname()[0]
    '127.0.0.1'
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"Cannot listen on {host}, port {port}: {why}. Choose another host or port.") from error
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """The address to open in a browser.

    Parameters
    ----------
    listening : socket.socket
        A socket that listens.
    host : str
        The host that was chosen for it.

    Returns
    -------
    str
        ``http://host:port/``.
    """
    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


def run(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    app : ASGI application
        See :func:`create_app`.
    listening : socket
        See :func:`open_socket`.

    Examples
    --------
    >>> import sev
    >>> sev.app.run(app, sev.app.open_socket("127.0.0.1", 8080))  # doctest: +SKIP
    """
    uvicorn = require("uvicorn", extra="app", feature="The page")
    config = uvicorn.Config(
        app,
        access_log=False,  # addresses hold what people search for
        log_level="warning",
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        limit_concurrency=2000,
    )
    uvicorn.Server(config).run(sockets=[listening])
