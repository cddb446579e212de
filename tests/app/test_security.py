"""Who may ask, how much, and what comes back when somebody tries something else."""

import json
import logging
import subprocess
import sys

import pytest

import sev
from sev.app import Service, Settings, Table

TOKEN = "a-secret-that-is-long-enough"


@pytest.fixture
def read_only(loans, connect):
    explainer, applicants = loans
    return connect(Service([("loans", explainer)], Table.of_frame(applicants), settings=Settings(readonly=True)))


@pytest.fixture
def with_token(loans, connect):
    explainer, _ = loans
    return connect(Service([("loans", explainer)]), token=TOKEN, hosts=["credit.example"])


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:8000"])
def test_a_name_that_points_to_this_machine_is_not_answered(client, host):
    answer = client.get("/api/about", headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["error"]["field"] == "Host"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:1", "[::1]:8000", "LOCALHOST"])
def test_addresses_and_localhost_are_answered(client, host):
    assert client.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "file://"])
def test_pages_of_other_sites_are_refused(client, origin):
    answer = client.post("/api/explain", json={"row": 0}, headers={"origin": origin})
    assert answer.status_code == 403
    assert answer.json()["error"]["field"] == "Origin"


def test_the_page_itself_may_ask(client):
    headers = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert client.post("/api/explain", json={"row": 0}, headers=headers).status_code == 200
    crossing = client.get("/api/about", headers={"sec-fetch-site": "cross-site"})
    assert crossing.status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200  # a link to the page


def test_forms_cannot_post(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        answer = client.post("/api/explain", content=b'{"row": 0}', headers={"content-type": kind})
        assert answer.status_code == 400, kind


@pytest.mark.parametrize("given", [None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer \u00e9"])
def test_data_needs_the_token(with_token, given):
    headers = {} if given is None else {"authorization": given.encode("latin-1")}
    for path in ("/api/about", "/metrics", "/api/openapi.json"):
        answer = with_token.get(path, headers=headers)
        assert answer.status_code == 401
        assert TOKEN not in answer.text
    assert with_token.get("/healthz", headers=headers).status_code == 200
    assert with_token.get("/page/main.js", headers=headers).status_code == 200


def test_the_token_opens_and_is_compared_in_constant_time(with_token, monkeypatch):
    compared = []

    def compare(one, other):
        compared.append((one, other))
        return one == other

    monkeypatch.setattr("sev.app._security.hmac.compare_digest", compare)
    headers = {"authorization": f"Bearer {TOKEN}", "host": "credit.example"}
    assert with_token.get("/api/about", headers=headers).status_code == 200
    assert compared == [(f"Bearer {TOKEN}".encode(), f"Bearer {TOKEN}".encode())]


def test_every_answer_has_a_policy_without_inline_script(client):
    for path in ("/", "/page/main.js", "/api/about", "/api/nothing", "/healthz"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
    assert client.get("/api/about").headers["cache-control"] == "no-store"
    assert client.get("/api/about", headers={"host": "evil.example"}).headers["x-frame-options"] == "DENY"


def test_bodies_are_limited_whatever_their_headers_say(loans, connect):
    explainer, _ = loans
    client = connect(Service([("loans", explainer)], settings=Settings(body_bytes=2000)))
    declared = client.post("/api/explain", json={"row": 0, "edits": {"duration": "x" * 3000}})
    assert declared.status_code == 413

    def pieces():
        for _ in range(100):
            yield b" " * 100

    chunked = client.post("/api/explain", content=pieces(), headers={"content-type": "application/json"})
    assert chunked.status_code == 413
    assert chunked.json()["error"]["code"] == "too_large"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_are_not_numbers_never_reach_the_model(client, text):
    body = f'{{"row": 0, "edits": {{"duration": {text}}}}}'
    answer = client.post("/api/explain", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert "error" in answer.json()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"row": 0, "row": "x"}'])
def test_bodies_that_are_not_requests_are_refused(client, body):
    answer = client.post("/api/explain", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert set(answer.json()["error"]) == {"code", "message", "field"}


def test_a_page_that_is_read_only_shows_rows_and_takes_no_edits(read_only):
    assert read_only.get("/api/about").json()["readonly"]
    assert read_only.post("/api/explain", json={"row": 0}).status_code == 200
    for more in ({"edits": {"duration": 3}}, {"limits": {"duration": {}}}):
        answer = read_only.post("/api/explain", json={"row": 0, **more})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "read_only")
    wanted = {"scenarios": [{"name": "a", "request": {"row": 0, "edits": {"duration": 3}}}]}
    assert read_only.post("/api/scenarios", json=wanted).status_code == 403


def test_hostile_names_come_back_as_they_are_and_as_json(hostile, connect):
    explainer, rows = hostile
    client = connect(Service([("<script>", explainer)], Table.of_frame(rows), settings=Settings(title="<i>")))
    about = client.get("/api/about")
    assert about.headers["content-type"] == "application/json"
    assert [one["name"] for one in about.json()["models"][0]["features"]] == list(rows.columns)
    row = int(explainer.model.predict(rows).argmax())
    answer = client.post("/api/explain", json={"row": row, "mode": "any"}).json()
    assert set(answer["row"]) == set(rows.columns)
    for name in rows.columns:
        assert client.get("/api/rows", params={"sort": name}).status_code == 200 or len(name) > 5000
        assert client.post("/api/curve", json={"row": row, "feature": name, "points": 3}).status_code == 200


def test_hostile_names_cannot_leave_the_data_of_a_file(hostile, connect):
    explainer, rows = hostile
    client = connect(Service([("</script><script>alert(1)", explainer)], Table.of_frame(rows)))
    row = int(explainer.model.predict(rows).argmax())
    wanted = {"title": "</title><script>", "scenarios": [{"name": "<!--<script>", "request": {"row": row}}]}
    text = client.post("/api/scenarios", json=wanted).text
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert text.count("<title") == text.count("</title") == 1
    data = text.split('id="sev-data">')[1].split("</script>")[0]
    assert json.loads(data)["document"]["scenarios"][0]["name"] == "<!--<script>"
    assert "unsafe-inline" not in text.split("<style>")[0]


def test_nothing_that_is_typed_is_logged(loans, connect, caplog, capfd, monkeypatch):
    explainer, applicants = loans
    client = connect(Service([("loans", explainer)], Table.of_frame(applicants)), token=TOKEN)
    secret = "typed-by-a-person"
    headers = {"authorization": f"Bearer {TOKEN}"}
    monkeypatch.setattr("sev.app._service.explain", lambda *arguments: {}[secret])
    with caplog.at_level(logging.DEBUG, "sev"):
        answer = client.post("/api/explain", json={"row": 0, "edits": {"purpose": secret}}, headers=headers)
        client.get("/api/rows", params={"search": secret}, headers=headers)
        client.get("/api/about", headers={"authorization": f"Bearer {TOKEN}x"})
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert secret not in answer.text
    written = caplog.text + "".join(capfd.readouterr())
    assert "KeyError at" in written  # the place of a defect is known
    assert secret not in written
    assert TOKEN not in written


def test_web_sockets_are_closed(client):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/about"):
        pass


def test_pickled_explainers_are_refused_unless_they_are_trusted(tmp_path):
    from click.testing import CliRunner

    from sev.cli import main

    class Rule:
        classes_ = (0, 1)

        def predict_proba(self, rows):
            import numpy as np

            positive = np.asarray(rows)[:, 0] > 0
            return np.column_stack([~positive, positive]).astype(float)

    globals()["Rule"] = Rule
    Rule.__qualname__ = "Rule"
    path = tmp_path / "pickled.sev"
    rows = [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [2.0, 2.0]]
    with pytest.warns(sev.exceptions.FallbackWarning):
        sev.Explainer(Rule(), rows).save(path, allow_pickle=True)
    result = CliRunner().invoke(main, ["app", str(path)])
    assert result.exit_code == 1
    assert "trust" in result.stderr


THREADS_THAT_CATCH_WARNINGS = """
import sys, warnings
from sev.app._security import silent_warnings

early = warnings.catch_warnings()
early.__enter__()
with silent_warnings():
    one, other = warnings.catch_warnings(), warnings.catch_warnings()
    one.__enter__()
    warnings.simplefilter("always")
    other.__enter__()
    one.__exit__(None, None, None)
    other.__exit__(None, None, None)
    warnings.warn("what a person typed", stacklevel=1)
    early.__exit__(None, None, None)  # of a thread that began before: it brings back how warnings were shown then
    warnings.warn("what a person typed later", stacklevel=1)
warnings.warn("afterwards", stacklevel=1)
"""


def test_no_warning_is_written_even_where_threads_mix_up_their_filters():
    done = subprocess.run(
        [sys.executable, "-c", THREADS_THAT_CATCH_WARNINGS], capture_output=True, text=True, timeout=300, check=True
    )
    assert "what a person typed" not in done.stdout + done.stderr
    assert "afterwards" in done.stderr


def test_a_letter_whose_reasons_lack_a_code_says_so_in_words_of_the_page(loans, refused, connect):
    explainer, applicants = loans
    codes = {"telephone": {"code": "T1", "text": "No telephone"}}
    client = connect(Service([("loans", explainer)], Table.of_frame(applicants), codes=codes))
    answer = client.post("/api/reasons", json={"row": refused[0]})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (400, "bad_input", "codes")
    assert error["message"].startswith("There is no letter, because these reasons have no code: the ")
    assert "rows" not in error["message"]
