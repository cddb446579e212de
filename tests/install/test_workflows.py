"""The workflows run what the Makefile has: nothing here runs them."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
#: What continuous integration has to run beside the tests, which it runs on more systems than make knows.
WANTED = {"lint", "docs", "test-lowest", "test-sanitized", "fuzz-native", "test-engines"}


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
