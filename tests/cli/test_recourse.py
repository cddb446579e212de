"""Actions and free values on the command line: the same answers as in Python, as tables and as JSON."""

import json

import pandas as pd
import pytest
from batch import tables
from click.testing import CliRunner
from files import loans

import sev
from sev.cli import main

pytest.importorskip("pyarrow")

ACTIONS = sev.Actions(frozen=["home"], decrease=["age"], within={"income": ("-10", "+10")}, steps={"income": 5})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("recourse")
    labels = sev.Labels(features={"age": {"label": "the age", "unit": "years"}}, classes={"refused": "declined"})
    loans.explainer(labels=labels).save(path / "loans.sev")
    rows = loans.rows()
    rows.assign(decision=loans.labels(rows)).to_csv(path / "train.csv", index=False)
    tables.applications(30).to_csv(path / "new.csv", index=False)
    ACTIONS.to_yaml(path / "actions.yaml")
    codes = {name: {"code": name[:2].upper(), "text": f"About {name}"} for name in rows.columns}
    (path / "codes.json").write_text(json.dumps(codes))
    return path


@pytest.fixture(scope="module")
def explainer(folder):
    return sev.load(folder / "loans.sev").with_actions(ACTIONS)


@pytest.fixture(scope="module")
def rows():
    return tables.applications(30)


@pytest.fixture(scope="module")
def refused(explainer, rows):
    """Numbers of rows that some permitted change undoes."""
    many = explainer.explain(rows, values="any")
    found = [row for row in range(len(many)) if many[row].size]
    assert len(found) > 4
    return found


def run(*words, status=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == status, (result.output, result.stderr, result.exception)
    return result


def lines_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_explain_takes_values_and_actions(folder, explainer, rows):
    words = ("explain", folder / "loans.sev", folder / "new.csv", "--values", "any")
    words += ("--actions", folder / "actions.yaml", "--changes", "--json", "-q")
    many = explainer.explain(rows, values="any")
    for line, one in zip(lines_of(run(*words)), many, strict=True):
        assert line["features"] == (list(one.features) if one.size else None)
        if "age" in one.changes:
            assert line["age_new"] == one.changes["age"].new
            assert [line["age_enough_low"], line["age_enough_high"]] == [one.enough["age"].low, one.enough["age"].high]


@pytest.mark.filterwarnings("ignore::sev.exceptions.HiddenReasonWarning")
def test_report_and_reasons_take_values_and_actions(folder, tmp_path, explainer, rows):
    more = ("--values", "any", "--actions", folder / "actions.yaml", "--id", "number", "-q")
    run("report", folder / "loans.sev", folder / "new.csv", *more, "-o", tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert ACTIONS.digest in text
    assert "set to permitted values" in text
    words = ("reasons", folder / "loans.sev", folder / "new.csv", "--codes", folder / "codes.json", *more)
    run(*words, "-o", tmp_path / "out")
    records = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text().splitlines()]
    many = explainer.explain(rows, values="any")
    assert [one["size"] for one in records] == [one.size for one in many]
    assert {one["hashes"]["actions"] for one in records} == {ACTIONS.digest}
    assert {one["settings"]["values"] for one in records} == {"any"}


def test_alone_is_a_table_of_rows_and_features(folder, explainer, rows, refused):
    found = explainer.alone(rows)
    words = ("alone", folder / "loans.sev", folder / "new.csv", "--actions", folder / "actions.yaml")
    lines = lines_of(run(*words, "--json"))
    assert [(line["row"], line["feature"], line["works"], line["share"]) for line in lines] == [
        (*label, bool(line["works"]), line["share"]) for label, line in found.iterrows()
    ]
    one = run(*words, "--id", "number", "--row", rows["number"][refused[0]]).stdout.splitlines()
    assert one[0].split() == ["row", "feature", "works", "share", "n_values", "searched"]
    mine = found.loc[refused[0]]
    assert len(one) - 1 == len(mine)
    for name, line in mine.iterrows():
        [shown] = [text.split() for text in one if f" {name} " in text]
        assert shown[-4:-2] == ["yes" if line["works"] else "no", f"{line['share']:.0%}"]
    other = next(row for row in range(30) if row not in refused)
    nothing = run(*words, "--row", other)
    assert "nothing to undo" in nothing.stderr or nothing.stdout.count("\n") > 1


def test_price_of_locks(folder, explainer, rows, refused):
    words = ("price", folder / "loans.sev", folder / "new.csv", "--actions", folder / "actions.yaml", "--values", "any")
    for row in refused[:4]:
        lines = lines_of(run(*words, "--row", row, "--locks", "age,branch", "--json"))
        wanted = explainer.price(rows.iloc[[row]], ["age", "branch"], values="any")
        assert [line["outcome"] for line in lines] == wanted["outcome"].tolist()
        assert [line["lock"] for line in lines] == ["age", "branch", "all of them"]
        shown = run(*words, "--row", row, "--locks", "age,branch").stdout
        assert all(outcome in shown for outcome in wanted["outcome"])


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", {"alle zusammen", "ohne Mehraufwand", "teurer", "unmöglich", "1 mehr", "2 mehr", "nicht entschieden"}),
        ("es", {"todas juntas", "sin coste adicional", "más costoso", "imposible", "1 más", "2 más", "sin decidir"}),
    ],
)
def test_price_is_told_in_the_language_that_was_asked_for(folder, refused, language, words):
    words_of_command = ("price", folder / "loans.sev", folder / "new.csv", "--actions", folder / "actions.yaml")
    for row in refused[:4]:
        shown = run(*words_of_command, "--row", row, "--locks", "age,branch", "--language", language).stdout
        assert sum(any(word in line for word in words) for line in shown.splitlines()) == 3
        assert not any(word in shown for word in ("all of them", "free", "costlier", "impossible ", "more"))


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0%"), (0.004, "<1%"), (0.285, "28%"), (0.996, ">99%"), (1.0, "100%")]
)
def test_a_share_that_is_not_none_does_not_read_as_none(folder, monkeypatch, share, text):
    found = pd.DataFrame({"works": [share > 0], "share": [share], "n_values": [1000], "searched": ["all"]})
    found.index = pd.MultiIndex.from_tuples([(0, "age")], names=["row", "feature"])
    monkeypatch.setattr(sev.Explainer, "alone", lambda *_, **__: found)
    assert f" {text} " in run("alone", folder / "loans.sev", folder / "new.csv").stdout


def test_menu_lists_what_works_with_ranges_and_what_is_now(folder, explainer, rows, refused):
    words = ("menu", folder / "loans.sev", folder / "new.csv", "--actions", folder / "actions.yaml", "--max-size", "2")
    seen = hidden = 0
    for row in refused[:6]:
        wanted = explainer.menu(rows.iloc[[row]], 2)
        every = lines_of(run(*words, "--row", row, "--all", "--json"))
        assert {tuple(line["features"]): line["outcome"] for line in every} == dict(
            zip(wanted["features"], wanted["outcome"], strict=True)
        )
        shown = run(*words, "--row", row)
        assert "cannot work" not in shown.stdout
        hidden += "cannot work; --all lists them" in shown.stderr
        working = wanted[wanted["outcome"] == "works"]
        assert len(shown.stdout.splitlines()) == 1 + len(working)
        for line in every:
            if line["outcome"] == "works" and line["features"] == ["age"]:
                low, high = line["enough"]["age"]
                assert low <= line["changes"]["age"] <= high
                assert f"at most {high:.0f} years (now {rows['age'][row]} years)" in shown.stdout
                seen += 1
    assert seen
    assert hidden


def test_suggestions_are_a_file_to_review_that_is_never_overwritten(folder, tmp_path):
    path = tmp_path / "actions.yaml"
    made = json.loads(run("suggest-actions", folder / "train.csv", "--label", "decision", "-o", path, "--json").stdout)
    rows = pd.read_csv(folder / "train.csv", dtype={"branch": str})
    assert path.read_text() == sev.suggest_actions(rows.drop(columns="decision"), rows["decision"])
    assert made["proposals"] == sum(line.startswith(("# -", "#   ")) for line in path.read_text().splitlines()) > 3
    assert run("suggest-actions", folder / "train.csv", "--label", "decision").stdout == path.read_text()
    before = path.read_text()
    again = run("suggest-actions", folder / "train.csv", "-o", path, status=2)
    assert "exists already and may have been reviewed" in again.stderr
    assert path.read_text() == before
    # a line whose comment mark a person removes is a file of actions
    kept = [line for line in before.splitlines() if "increase" in line or "- age" in line]
    path.write_text("\n".join(line.removeprefix("# ") for line in kept) + "\n")
    assert sev.Actions.from_yaml(path) == sev.Actions(increase=["age"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--row", "30"), "it has 30 rows, and the first is 0"),
        (("--row", "0", "--id", "no"), "has no column 'no' for --id"),
        (("--row", "x", "--id", "number"), "no row of"),
        (("--row", "own", "--id", "home"), "this entry in 'home'."),
    ],
)
def test_a_row_that_is_not_there_is_an_error_that_names_it(folder, words, message):
    assert message in run("menu", folder / "loans.sev", folder / "new.csv", *words, status=2).stderr
