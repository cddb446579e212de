"""A slow model on a real server: it blocks nobody else, and it is not called for people who have gone."""

import json
import socket
import threading
import time

import numpy as np
import pandas as pd
import pytest
from loopback import serving
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import sev
from sev.app import Service, Settings

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

pytestmark = pytest.mark.filterwarnings("ignore::sev.exceptions.FallbackWarning")
COLUMNS = [f"c{number}" for number in range(14)]


class SlowModel(ClassifierMixin, BaseEstimator):
    """A black box that takes its time, and can be held up."""

    def __init__(self):
        self.seconds = 0.0
        self.gate = threading.Event()
        self.gate.set()
        self.called = threading.Event()
        self.n_calls = 0

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        self.n_calls += 1
        self.called.set()
        assert self.gate.wait(60)
        time.sleep(self.seconds)
        # every change alone leaves it where it is, and so do most pairs: a long search
        score = 1 / (1 + np.exp(-4 * (np.asarray(X, dtype=float).sum(axis=1) - 2.5)))
        return np.column_stack([1 - score, score])


@pytest.fixture
def models():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 14)), columns=COLUMNS)
    label = (rows.sum(axis=1) > 0).astype(int)
    slow = SlowModel().fit(rows, label)
    zeros = pd.DataFrame(np.zeros((1, 14)), columns=COLUMNS)
    options = {"reference": zeros, "credibility": False}
    fast = LogisticRegression().fit(rows, label)
    return slow, [("slow", sev.Explainer(slow, rows, label, **options)), ("fast", sev.Explainer(fast, rows, label))]


def person(model, value=1.0, **more):
    return {"model": model, "values": dict.fromkeys(COLUMNS, value), "with_path": False, "with_cube": False, **more}


def running(client):
    text = client.get("/metrics").text
    return float(next(line for line in text.splitlines() if line.startswith("sev_requests_running ")).split()[1])


def wait_for(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_people_of_another_model_are_answered_while_a_slow_one_is_asked(models):
    slow, explainers = models
    service = Service(explainers, settings=Settings(seconds=300))
    with serving(service, with_page=False) as address, httpx.Client(base_url=address, timeout=300) as client:
        slow.gate.clear()
        slow.called.clear()
        found = []

        def ask():
            found.append(httpx.post(f"{address}/api/explain", json=person(0), timeout=300))

        asked = [threading.Thread(target=ask) for _ in range(40)]
        for thread in asked:
            thread.start()
        assert slow.called.wait(120)
        for edit in range(20):
            answer = client.post("/api/explain", json=person(1, 1.0 + edit))
            assert answer.status_code == 200, answer.text
            assert client.get("/healthz").status_code == 200
        assert found == []  # all of these people still wait for the slow model
        slow.gate.set()
        for thread in asked:
            thread.join(300)
        assert [answer.status_code for answer in found] == [200] * 40


def test_a_model_is_not_called_for_people_who_have_gone(models):
    slow, explainers = models
    service = Service(explainers, settings=Settings(seconds=120))
    with serving(service, with_page=False) as address, httpx.Client(base_url=address, timeout=300) as client:
        slow.seconds = 0.05
        slow.called.clear()
        before = slow.n_calls
        # a raw connection that is closed while the answer is being worked out
        host, port = address.removeprefix("http://").split(":")
        body = json.dumps(person(0)).encode()
        head = f"POST /api/explain HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert slow.called.wait(120)
            assert running(client) == 1
        wait_for(lambda: running(client) == 0)
        stopped = slow.n_calls
        assert stopped > before
        answer = client.post("/api/explain", json=person(0)).json()  # somebody who stays is answered
        assert answer["size"] is not None
        assert slow.n_calls - stopped > 2 * (stopped - before)  # what the whole answer takes


def test_of_a_person_who_types_on_only_the_last_search_goes_on(models):
    slow, explainers = models
    service = Service(explainers, settings=Settings(seconds=120))
    with serving(service, with_page=False) as address, httpx.Client(base_url=address, timeout=300) as client:
        slow.gate.clear()
        slow.called.clear()
        old = []
        ask = {"client": "me", "sequence": 1}
        first = threading.Thread(
            target=lambda: old.append(httpx.post(f"{address}/api/explain", json=person(0, **ask), timeout=300))
        )
        first.start()
        assert slow.called.wait(120)
        before = slow.n_calls
        new = []
        second = threading.Thread(
            target=lambda: new.append(
                httpx.post(f"{address}/api/explain", json=person(0, 0.0, client="me", sequence=2), timeout=300)
            )
        )
        second.start()
        wait_for(lambda: slow.n_calls > before)  # the new one is at the model: the old one is dropped
        slow.gate.set()
        first.join(300)
        second.join(300)
        assert (old[0].status_code, old[0].json()["error"]["code"]) == (409, "superseded")
        assert (new[0].status_code, new[0].json()["status"]) == (200, "not_target")
        assert slow.n_calls - before <= 2  # no search for the older values
        assert running(client) == 0
