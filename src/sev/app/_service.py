"""All that can be asked, without the web around it: the server and the notebook widget call the same methods."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sev.app._about import describe_model, describe_table
from sev.app._curve import curve
from sev.app._errors import ServiceError
from sev.app._explain import explain
from sev.app._join import one_file
from sev.app._models import (
    About,
    CurveAnswer,
    CurveRequest,
    ExplainAnswer,
    ExplainRequest,
    GroupsAnswer,
    Person,
    PriceAnswer,
    PriceRequest,
    ReasonsAnswer,
    ReasonsRequest,
    RowsAnswer,
    RowsRequest,
    Scenario,
    ScenarioOut,
    ScenariosDocument,
    ScenariosRequest,
    ServiceLimits,
    ThresholdAnswer,
)
from sev.app._overview import Overview
from sev.app._reasons import letter, price
from sev.app._scheduler import Ticket
from sev.app._served_model import ServedModel
from sev.app._statuses import Statuses
from sev.app._table import Table
from sev.app._together import explain_together
from sev.backends import SearchStopped, stopping_when
from sev.core import __version__
from sev.explainers import Explainer
from sev.reports import Codes, load_codes
from sev.text import LANGUAGES

if TYPE_CHECKING:
    from sev.reports import CodesLike


@dataclass(frozen=True)
class Settings:
    """What the service permits.

    Parameters
    ----------
    title : str
        Title of the page.
    readonly : bool
        Rows of the table can be looked at; edits, limits and other rows are refused.
    body_bytes, rows_per_page, scenarios : int
        Largest request, page and file.
    seconds : float
        Time for one request, waiting included.
    most_waiting : int
        Requests that may wait.

    Examples
    --------
    >>> import sev
    >>> sev.app.Settings(readonly=True).readonly
    True
    """

    title: str = ""
    readonly: bool = False
    body_bytes: int = 1_000_000
    rows_per_page: int = 500
    scenarios: int = 20
    seconds: float = 20.0
    most_waiting: int = 200


class Service:
    """One or several explainers and a table, with an answer to every request of the interface.

    Parameters
    ----------
    explainers : sequence of (str, Explainer)
        The models with their names.
    table : Table, default=None
        The table of decisions.
    codes : path, mapping or Codes, default=None
        Reason codes; see :func:`sev.reports.load_codes`.
    settings : Settings
        What is permitted.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> service = sev.app.Service([("loans", explainer)], sev.app.Table.of_frame(X))
    """

    def __init__(
        self,
        explainers: Sequence[tuple[str, Explainer]],
        table: Table | None = None,
        *,
        codes: CodesLike | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings()
        loaded: Codes | None = None if codes is None else load_codes(codes)
        self.table = table
        self.served_models = [
            ServedModel(index, name, explainer, loaded, table) for index, (name, explainer) in enumerate(explainers)
        ]
        self.is_busy: Callable[[], bool] = bool
        self.has_page = False
        self._stop = threading.Event()
        self._preparing: threading.Thread | None = None
        self._overviews: list[Overview] = []
        if table is not None:
            for served in self.served_models:
                statuses = Statuses(table, served.explainer, self._is_busy)
                self._overviews.append(Overview(served, table, statuses))
        self._about: About | None = None
        self._describing = threading.Lock()

    def _is_busy(self) -> bool:
        return self.is_busy()

    def start(self) -> None:
        """Compute in the background what the first request needs, and the statuses of the table."""
        self._stop.clear()
        self._preparing = threading.Thread(target=self._answer_examples, name="sev-prepare", daemon=True)
        self._preparing.start()
        for one in self._overviews:
            one.statuses.start()

    def _answer_examples(self) -> None:
        """Make what is made once, before somebody waits for it."""
        # a model may raise anything; whoever asks for the same is told
        with suppress(Exception, SearchStopped), stopping_when(self._stop.is_set):
            self.about()
            for served in self.served_models:
                for mode in ("reference", "any") if served.grounds else ("reference",):
                    explain(served, served.example(mode), Ticket(self.settings.seconds))

    def close(self) -> None:
        """End the work in the background."""
        self._stop.set()
        for one in self._overviews:
            one.statuses.stop()
        if self._preparing is not None:
            self._preparing.join(timeout=5)

    @property
    def n_known(self) -> int:
        """Rows of the table whose status is known, over all models."""
        return sum(one.statuses.n_known for one in self._overviews)

    def served_model(self, model: int) -> ServedModel:
        """A model by its place.

        Parameters
        ----------
        model : int
            Place, the first being 0.

        Returns
        -------
        ServedModel
            An explainer with its threads.

        Raises
        ------
        ServiceError
            "not_found", if there are not so many models.
        """
        if not 0 <= model < len(self.served_models):
            shown = f"There is no model {model}: there are {len(self.served_models)}, numbered from 0."
            raise ServiceError("not_found", shown, "model")
        return self.served_models[model]

    def _served_for(self, person: Person) -> ServedModel:
        return self.served_model(person.model).speaking(person.language)

    # -- requests ------------------------------------------------------------------------------------------------------

    def about(self) -> About:
        """Answer ``GET /api/about``.

        Returns
        -------
        About
            Models, features, settings and texts of the page.
        """
        with self._describing:  # whoever comes while it is made waits for it instead of making it again
            if self._about is None:
                self._about = self._describe_service()
            return self._about

    def _describe_service(self) -> About:
        settings = self.settings
        return About(
            version=__version__,
            title=settings.title,
            language=self.served_models[0].speaker.language,
            readonly=settings.readonly,
            has_page=self.has_page,
            revision=self._hash_content(),
            models=[describe_model(served) for served in self.served_models],
            table=None if self.table is None else describe_table(self.table, self.served_models),
            limits=ServiceLimits(
                body_bytes=settings.body_bytes,
                rows_per_page=settings.rows_per_page,
                seconds_per_request=settings.seconds,
                requests_at_once=settings.most_waiting,
                scenarios=settings.scenarios,
            ),
        )

    def _hash_content(self) -> str:
        digest = hashlib.sha256()
        for served in self.served_models:
            digest.update(repr(served.explainer).encode())
            digest.update(str(served.explainer.source.about()["hashes"]).encode())
        if self.table is not None:
            digest.update(f"{self.table.n_rows} {self.table.names}".encode())
        return digest.hexdigest()[:12]

    def rows(self, request: RowsRequest) -> RowsAnswer:
        """Answer ``GET /api/rows``.

        Parameters
        ----------
        request : RowsRequest
            Which rows, in which order.

        Returns
        -------
        RowsAnswer
            One page of the table.

        Raises
        ------
        ServiceError
            "too_large", if a page has more rows than permitted; "bad_input" or "not_found" for a filter that does not
        fit.
        """
        if request.limit > self.settings.rows_per_page:
            raise ServiceError("too_large", f"A page has at most {self.settings.rows_per_page} rows.", "limit")
        return self._overview_of(request.model).rows(request)

    def threshold(self, model: int, value: float) -> ThresholdAnswer:
        """Answer ``GET /api/threshold``.

        Parameters
        ----------
        model : int
            Place of the model.
        value : float
            The threshold.

        Returns
        -------
        ThresholdAnswer
            How many decisions would change.
        """
        return self._overview_of(model).threshold(value)

    def groups(self, model: int, by: str, language: str | None = None) -> GroupsAnswer:
        """Answer ``GET /api/groups``.

        Parameters
        ----------
        model : int
            Place of the model.
        by : str
            The column.
        language : str, default=None
            "en", "de" or "es"; None is the explainer's.

        Returns
        -------
        GroupsAnswer
            One line for each value of the column.
        """
        return self._overview_of(model).groups(by, language)

    def _overview_of(self, model: int) -> Overview:
        self.served_model(model)
        if not self._overviews:
            raise ServiceError("not_found", "There is no table of decisions here: start with --data.")
        return self._overviews[model]

    def explain(self, request: ExplainRequest, ticket: Ticket) -> ExplainAnswer:
        """Answer ``POST /api/explain``.

        Parameters
        ----------
        request : ExplainRequest
            The row and its limits.
        ticket : Ticket
            Whether somebody still waits for the answer.

        Returns
        -------
        ExplainAnswer
            Score, decision, smallest sets and texts.
        """
        self._check_may_edit(request)
        return explain(self._served_for(request), request, ticket)

    def explain_together(
        self, requests: Sequence[ExplainRequest], tickets: Sequence[Ticket]
    ) -> Iterator[ExplainAnswer | Exception]:
        """Answer several requests about one model with fewer calls of it.

        Parameters
        ----------
        requests : sequence of ExplainRequest
            The rows and their limits.
        tickets : sequence of Ticket
            Whether somebody still waits for each answer.

        Returns
        -------
        iterator of ExplainAnswer or Exception
            For each request what :meth:`explain` returns or raises.
        """
        return explain_together([self._served_for(one) for one in requests], requests, tickets)

    def can_join(self, request: ExplainRequest) -> bool:
        """Whether a request may be answered together with others.

        Parameters
        ----------
        request : ExplainRequest
            The request.

        Returns
        -------
        bool
            False where the search is long or something has to be made for it first: nobody shall wait for others who
            could use another core.
        """
        self._check_may_edit(request)
        served = self.served_model(request.model)
        return served.is_quick(request.mode) and served.has_variant(request)

    def price(self, request: PriceRequest, ticket: Ticket) -> PriceAnswer:
        """Answer ``POST /api/price``.

        Parameters
        ----------
        request : PriceRequest
            The row and its locks.
        ticket : Ticket
            Whether somebody still waits for the answer.

        Returns
        -------
        PriceAnswer
            One line for each lock.
        """
        self._check_may_edit(request)
        return price(self._served_for(request), request, ticket)

    def curve(self, request: CurveRequest, ticket: Ticket) -> CurveAnswer:
        """Answer ``POST /api/curve``.

        Parameters
        ----------
        request : CurveRequest
            The row and the feature.
        ticket : Ticket
            Whether somebody still waits for the answer.

        Returns
        -------
        CurveAnswer
            Scores over the values of one feature.
        """
        self._check_may_edit(request)
        return curve(self._served_for(request), request, ticket)

    def reasons(self, request: ReasonsRequest, ticket: Ticket) -> ReasonsAnswer:
        """Answer ``POST /api/reasons``.

        Parameters
        ----------
        request : ReasonsRequest
            The row.
        ticket : Ticket
            Whether somebody still waits for the answer.

        Returns
        -------
        ReasonsAnswer
            Codes and texts of the letter.
        """
        self._check_may_edit(request)
        return letter(self._served_for(request), request, ticket)

    def scenarios(self, request: ScenariosRequest, ticket: Ticket) -> tuple[str, str]:
        """Answer ``POST /api/scenarios``: the text of a file and its media type.

        Parameters
        ----------
        request : ScenariosRequest
            The scenarios.
        ticket : Ticket
            Whether somebody still waits for the answer.

        Returns
        -------
        pair of str
            The text and the media type.

        Raises
        ------
        ServiceError
            "too_large", if there are more than permitted.
        """
        if len(request.scenarios) > self.settings.scenarios:
            raise ServiceError("too_large", f"A file holds at most {self.settings.scenarios} scenarios.", "scenarios")
        document = self.document(request, ticket)
        if request.format == "json":
            return document.model_dump_json(), "application/json"
        language = request.language or document.about.language
        return one_file(document.model_dump(mode="json"), language, document.title), "text/html; charset=utf-8"

    def document(self, request: ScenariosRequest, ticket: Ticket) -> ScenariosDocument:
        """Scenarios with their answers.

        Parameters
        ----------
        request : ScenariosRequest
            The scenarios.
        ticket : Ticket
            Whether somebody still waits for the answer.

        Returns
        -------
        ScenariosDocument
            What is written to a file.
        """
        return ScenariosDocument(
            title=request.title or self.settings.title,
            about=self.about().model_copy(update={"readonly": True, "table": None}),
            scenarios=[self._answer_scenario(one, request.language, ticket) for one in request.scenarios],
        )

    def _answer_scenario(self, one: Scenario, language: str, ticket: Ticket) -> ScenarioOut:
        """A scenario with its answers, in the language of the file; its letter is in that in which it would go out."""
        letter = ReasonsRequest(**one.request.model_dump(include=set(Person.model_fields)))
        request = one.request
        if language in LANGUAGES and request.language is None:
            request = request.model_copy(update={"language": language})
        answer = self.explain(request, ticket)
        person = request.model_dump(include=set(Person.model_fields))
        changed = list(dict.fromkeys(feature for one in answer.sets for feature in one.features))
        is_explained = answer.status not in ("error", "not_target")
        drawn = changed[:8] if len(self.served_model(request.model).explainer.tasks) == 1 else []
        return ScenarioOut(
            name=one.name,
            request=one.request,
            explain=answer,
            reasons=None if answer.status == "error" else self.reasons(letter, ticket),
            prices=self.price(PriceRequest(**person, locks=changed[:8]), ticket) if is_explained and changed else None,
            curves={name: self.curve(CurveRequest(**person, feature=name), ticket) for name in drawn},
        )

    def _check_may_edit(self, person: Person) -> None:
        if self.settings.readonly and (person.edits or person.limits or person.values is not None):
            raise ServiceError("read_only", "This page is read only: rows can be looked at, not edited.")
