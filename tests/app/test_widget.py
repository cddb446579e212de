"""The page in a notebook: the kernel answers what a server would."""

import subprocess
import sys

import pytest

pytest.importorskip("anywidget")
from sev.app import Service, Table
from sev.app._widget import Answers

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def widget(loans):
    explainer, applicants = loans
    shown = explainer.widget(applicants, title="Loans")
    shown.sent = []
    shown.send = lambda content, buffers=None: shown.sent.append(content)
    yield shown
    shown.close()


def ask(widget, name, **params):
    widget._handle_custom_msg({"id": name, "name": name, "params": params}, [])
    reply = widget.sent.pop()
    assert reply["id"] == name
    return reply


def test_calls_are_answered_as_by_the_server(widget, client, refused):
    served = client.post("/api/explain", json={"row": refused[0]}).json()
    answered = ask(widget, "explain", row=refused[0])["result"]
    assert {**answered, "milliseconds": 0} == {**served, "milliseconds": 0}
    assert ask(widget, "about")["result"]["title"] == "Loans"
    assert ask(widget, "rows", limit=3, client="page", sequence=4, sort=None)["result"]["total"] == 200
    assert ask(widget, "price", row=refused[0], locks=["duration"])["result"]["prices"]
    assert ask(widget, "curve", row=refused[0], feature="duration")["result"]["points"]
    assert ask(widget, "reasons", row=refused[0])["result"]["reasons"]
    assert ask(widget, "groups", by="housing")["result"]["by"] == "housing"
    assert ask(widget, "threshold", value=0.4)["result"]["value"] == 0.4
    kept = ask(widget, "scenarios", format="html", scenarios=[{"name": "a", "request": {"row": refused[0]}}])
    assert kept["result"].startswith("<!doctype html>")


def test_the_statuses_of_the_table_give_way_while_the_kernel_answers(loans, monkeypatch):
    explainer, applicants = loans
    service = Service([("loans", explainer)], Table.of_frame(applicants))
    answers, seen = Answers(service), []
    monkeypatch.setattr(service, "rows", lambda wanted: seen.append(service.is_busy()))
    answers.answer({"id": 1, "name": "rows", "params": {}})
    answers.answer({"id": 1, "name": "nothing"})
    assert seen == [True]
    assert service.is_busy() is False


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"id": 1, "name": "nothing"}, "not_found"),
        ({"id": 1, "name": "explain", "params": {"row": "x"}}, "bad_input"),
        ({"id": 1, "name": "explain", "params": {"row": 10_000}}, "not_found"),
        ({"id": 1}, "bad_input"),
        ("text", "bad_input"),
    ],
)
def test_wrong_calls_get_errors(widget, content, code):
    widget._handle_custom_msg(content, [])
    assert widget.sent.pop()["error"]["code"] == code


def test_the_module_is_one_script_that_asks_for_nothing_else(widget):
    module = str(widget._esm)
    assert module.rstrip().endswith("export default $entry.widget;")
    assert "\nimport " not in module
    assert set(widget.texts) >= {"en", "de", "es"}
    assert widget.language == "en"


def test_importing_the_package_loads_nothing_of_the_page():
    code = "import sys, sev; print(sorted({'fastapi', 'uvicorn', 'pydantic', 'anywidget'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "[]"
