"""``sev app`` and ``sev serve`` as a person starts them: real processes on the loopback address."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from sev.app import Service
from sev.cli import main


@contextmanager
def started(*arguments, **environment):
    """The first line that the command prints, while it runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sev.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        yield process, process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)
        process.stdout.close()
        process.stderr.close()


def fetch(address, **headers):
    """A GET, repeated while the server starts."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=120) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


@pytest.fixture(scope="module")
def files(loans, tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    explainer, applicants = loans
    explainer.save(folder / "loans.sev")
    applicants.to_csv(folder / "applicants.csv", index=False)
    return folder


def test_the_page_is_served_on_this_machine_only(files):
    with started("app", files / "loans.sev", "--data", files / "applicants.csv", "--id", "applicant") as (
        process,
        line,
    ):
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        status, page = fetch(address)
        assert status == 200
        assert page.startswith(b"<!doctype html>")
        about = json.loads(fetch(f"{address}api/about")[1])
        assert about["table"]["rows"] == 200
        assert about["models"][0]["name"] == "loans"
        process.send_signal(signal.SIGINT)
        assert process.wait(120) in (0, 130)
        assert "Traceback" not in process.stderr.read()


def test_nothing_that_is_typed_is_printed_by_the_process_or_written_beside_it(files, tmp_path):
    """Searches are part of addresses, which servers like to log; edits are bodies."""
    secret = "typed-by-a-person"
    data = ["--data", files / "applicants.csv", "--id", "applicant"]
    with started("app", files / "loans.sev", *data, TMPDIR=str(tmp_path), HOME=str(tmp_path)) as (process, line):
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        assert fetch(f"{address}api/rows?search={secret}")[0] == 200
        assert fetch(f"{address}api/{secret}")[0] == 404
        body = json.dumps({"row": 0, "edits": {"purpose": secret}}).encode()
        asked = urllib.request.Request(f"{address}api/explain", body, {"Content-Type": "application/json"})
        assert urllib.request.urlopen(asked, timeout=120).status == 200
        process.send_signal(signal.SIGINT)
        printed = "".join(process.communicate(timeout=120))
    assert secret not in line + printed
    assert [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []


def test_the_service_has_no_page(files):
    with started("serve", files / "loans.sev") as (_, line):
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        assert fetch(f"{address}healthz")[0] == 200
        assert fetch(address)[0] == 404
        assert not json.loads(fetch(f"{address}api/about")[1])["has_page"]


def test_another_address_needs_a_token(files):
    with started("app", files / "loans.sev", "--host", "0.0.0.0") as (_, line):
        port, token = re.search(r"http://0\.0\.0\.0:(\d+)/#token=(\S+)", line).groups()
        address = f"http://127.0.0.1:{port}/"
        assert fetch(f"{address}api/about")[0] == 401
        assert fetch(f"{address}api/about", authorization=f"Bearer {token}")[0] == 200
    with started("serve", files / "loans.sev", "--host", "0.0.0.0", SEV_TOKEN="x" * 20) as (_, line):
        assert "x" * 20 not in line
        port = re.search(r":(\d+)/", line)[1]
        assert fetch(f"http://127.0.0.1:{port}/api/about", authorization="Bearer " + "x" * 20)[0] == 200


def test_a_service_answers_to_the_names_that_it_was_given_and_asks_for_its_token(files):
    """As behind the name of a container or a proxy."""
    secret = {"authorization": "Bearer " + "x" * 20}
    names = ["--allow-host", "sev", "--allow-host", "Credit.example"]
    with started("serve", files / "loans.sev", *names, SEV_TOKEN="x" * 20) as (_, line):
        about = re.search(r"http://127\.0\.0\.1:\d+/", line)[0] + "api/about"
        for host in ("sev:8080", "SEV", "credit.example", "127.0.0.1:8080"):
            assert fetch(about, host=host, **secret)[0] == 200
            assert fetch(about, host=host)[0] == 401
        for host in ("other", "sev.example", "credit.example.evil.example"):
            status, body = fetch(about, host=host, **secret)
            assert status == 403
            assert b"--allow-host" in body


def test_names_may_come_from_the_environment_and_need_a_token_on_this_machine_too(files):
    with started("app", files / "loans.sev", SEV_ALLOW_HOST="sev credit.example") as (_, line):
        address, token = re.search(r"(http://127\.0\.0\.1:\d+/)#token=(\S+)", line).groups()
        for host in ("sev:8080", "credit.example"):
            assert fetch(f"{address}api/about", host=host)[0] == 401
            assert fetch(f"{address}api/about", host=host, authorization=f"Bearer {token}")[0] == 200


def test_what_every_page_needs_first_is_there_before_the_address_is_told(files, monkeypatch):
    happened = []
    describe = Service.about
    monkeypatch.setattr(Service, "about", lambda service: happened.append("about") or describe(service))
    monkeypatch.setattr("sev.app.address_of", lambda *place: happened.append("address") or "http://127.0.0.1:1/")
    monkeypatch.setattr("sev.app.run", lambda app, listening: listening.close())
    result = CliRunner().invoke(main, ["app", str(files / "loans.sev")])
    assert result.exit_code == 0, result.stderr
    assert happened == ["about", "address"]


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["--data", "applicants.csv"], {}, "--data needs the explainer"),
        (["loans.sev", "--data", "nothing.csv"], {}, "nothing.csv"),
        (["loans.sev"], {"SEV_TOKEN": "short"}, "too short"),
        (["loans.sev", "--data", "applicants.csv", "--id", "number"], {}, "no column 'number'"),
        (["loans.sev", "--allow-host", "http://sev:8080"], {}, "not the name of a host"),
        (["loans.sev", "--allow-host", "*"], {}, "not the name of a host"),
        (["loans.sev"], {"SEV_ALLOW_HOST": "sev sev:8080"}, "not the name of a host"),
        (["loans.sev", "--host", "no.such.host.invalid"], {}, "Cannot listen on"),
    ],
)
def test_wrong_use_is_one_line(files, monkeypatch, arguments, environment, message):
    monkeypatch.chdir(files)
    result = CliRunner(env=environment).invoke(main, ["app", *arguments])
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
