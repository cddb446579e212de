"""What the site is for is on it: ideas, tasks, examples and requests of users, each where a reader looks for it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def read(name):
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "idea",
    [
        *(
            "decision",
            "query",
            "reference",
            "feature",
            "SEV-",
            "SEV+",
            "SEV(R)",
            "destination",
            "action",
            "minimum set",
        ),
        *("status", "credibility", "threshold", "time limit", "unexplainable", "undecided", "feasible", "proven"),
    ],
)
def test_an_idea_is_explained_and_in_the_glossary(idea):
    assert idea.lower() in read("concepts").lower()
    terms = re.findall(r"^(\S.*)\n  \S", read("glossary"), re.M)
    assert idea in {part for term in terms for part in term.split(", ")} or idea == "decision"


def test_concepts_have_pictures_and_say_what_they_do_not_say():
    assert len(re.findall(r"!\[[^\]]+\]\(images/", read("concepts"))) >= 2
    limits = read("concepts").partition("## What an explanation does not say")[2]
    for word in ("causal", "move together", "reference is a choice"):
        assert word in limits


@pytest.mark.parametrize(
    "page",
    [
        *("pipelines", "boosters", "../networks", "any_function", "classes", "regression", "restricted", "../actions"),
        *("clusters", "notices", "audit", "report", "../page", "../service", "../production", "../training"),
        *("../references", "../extending", "migration"),
    ],
)
def test_a_task_has_a_page_among_the_tasks(page):
    listed = re.findall(r"^(\S+)$", "".join(re.findall(r"```\{toctree\}\n(.*?)```", read("howto/index"), re.S)), re.M)
    assert page in listed


def test_the_table_of_questions_leads_to_every_kind_of_answer():
    questions = read("questions")
    for page in (
        *(
            "concepts.md",
            "howto/restricted.md",
            "actions.md",
            "howto/clusters.md",
            "training.md",
            "production.md",
            "page.md",
        ),
        'kind="plus"',
    ):
        assert page in questions


def test_every_example_is_in_the_gallery():
    pattern = re.search(r'"filename_pattern": r"(.*?)"', (DOCS / "conf.py").read_text(encoding="utf-8"))[1]
    scripts = [f"/{path.name}" for path in (ROOT / "examples").glob("*.py")]
    assert scripts
    assert [name for name in scripts if not re.search(pattern, name)] == []


def test_requests_from_other_trackers_are_linked_and_answered():
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", read("asked_elsewhere"), re.M)[2:]
    assert len(rows) >= 16
    for request, where, here in rows:
        assert re.search(r"\]\(https://github\.com/", where), request
        assert "`" in here or "](" in here, request


def test_the_readme_is_one_screen():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 45
    assert text.count("![") == 1


def test_the_site_is_built_in_continuous_integration_and_a_warning_fails_it():
    assert "make docs" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndocs:")[2].partition("\n\n")[0]
    assert "-m sphinx -q -W" in recipe
