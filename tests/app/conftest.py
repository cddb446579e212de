"""A service on the bundled loan data, and a client that talks to it without a network."""

import threading
import time
import warnings
from functools import partial

import pytest

pytest.importorskip("fastapi")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the test client, about the client library that it is going to use
    from starlette.testclient import TestClient

import sev
from sev import demo
from sev.app import Service, Settings, Table, create_app

BASE = "http://127.0.0.1:8000"
#: Seconds that a request may take in tests: what is tested is the answer, also on a machine that does much else.
PATIENCE = 60.0


@pytest.fixture(scope="session", autouse=True)
def patient_services():
    """Services without settings of their own wait longer than those of users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sev.app._service.Settings", partial(Settings, seconds=PATIENCE))
        yield


@pytest.fixture(autouse=True)
def nothing_in_the_background():
    """After each test, wait for threads that prepare answers: ``warnings.catch_warnings``, which libraries call in
    them, would give the next test the filters of this one.
    """
    yield
    end = time.monotonic() + 30
    for thread in threading.enumerate():
        if thread.name in ("sev-prepare", "sev-statuses"):
            thread.join(max(0.0, end - time.monotonic()))


@pytest.fixture(scope="session")
def loans():
    """An explainer with restricted features and labels, and applicants with their numbers."""
    return demo.explainer_and_applicants()


@pytest.fixture(scope="session")
def service(loans):
    explainer, applicants = loans
    return Service(
        [("loans", explainer)],
        Table.of_frame(applicants, "applicant"),
        settings=Settings(title="Loans", seconds=PATIENCE),
    )


@pytest.fixture(scope="session")
def client(service):
    with TestClient(create_app(service), base_url=BASE) as client:
        wait_until_known(client)
        yield client


@pytest.fixture
def connect():
    """A function from a service to a client of it."""
    opened = []

    def open_client(service, **options):
        client = TestClient(create_app(service, **options), base_url=BASE)
        opened.append(client)
        return client.__enter__()

    yield open_client
    for client in opened:
        client.__exit__(None, None, None)


def wait_until_known(client, seconds=300):
    """Wait until the statuses of all rows are computed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = client.get("/api/rows").json()
        if answer["known"] == answer["table_rows"]:
            return
        time.sleep(0.05)
    raise AssertionError("the statuses were not computed in time")


@pytest.fixture(scope="session")
def refused(loans):
    """Numbers of the rows that are refused and have a smallest set, in order."""
    explainer, applicants = loans
    many = explainer.explain(applicants[list(explainer.feature_names)])
    return [row for row, size in enumerate(many.sizes) if size >= 1]


@pytest.fixture(scope="session")
def hostile():
    """An explainer whose columns, categories and labels try to be markup, formulas and more."""
    import numpy as np
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    names = ["<script>alert(1)</script>", "=1+1", "\u202eright to left", "long" * 2500]
    random = np.random.default_rng(0)
    rows = pd.DataFrame({name: random.normal(size=300) for name in names})
    rows["kind"] = random.choice(["<img src=x onerror=alert(1)>", "</script><b>", "plain"], size=300)
    label = (rows[names].sum(axis=1) + (rows["kind"] == "plain") > 0).astype(int)
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression()).fit(rows, label)
    return sev.Explainer(model, rows, label, labels={"classes": {1: "<b>yes</b>", 0: "no"}}), rows
