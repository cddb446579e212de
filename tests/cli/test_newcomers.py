"""Small things that new users of the command line met."""

import pytest
from click.testing import CliRunner
from files import loans

from sev.cli import main
from sev.exceptions import InputError
from sev.training._floors import floors_of

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("newcomers")
    loans.explainer().save(path / "loans.sev")
    loans.rows(20, 3).astype({"home": str}).to_csv(path / "new.csv", index=False)
    return path


def run(*words):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, (result.output, result.stderr)
    return result


@pytest.mark.parametrize(
    ("metric", "meant"),
    [
        ("auc", "roc_auc"),
        ("AUC", "roc_auc"),
        ("roc-auc", "roc_auc"),
        ("logloss", "neg_log_loss"),
        ("acuracy", "accuracy"),
    ],
)
def test_a_metric_of_another_name_is_recognized(metric, meant):
    with pytest.raises(InputError, match=f"; did you mean '{meant}'\\?"):
        floors_of(loans.pipeline(), metric, 0.01, None)


def test_answers_about_one_feature_use_labels_and_language(folder):
    (folder / "labels.yaml").write_text("features: {age: das Alter}\nlanguage: de\n", "utf-8")
    words = (folder / "loans.sev", folder / "new.csv", "--labels", folder / "labels.yaml")
    shown = run("alone", *words).stdout
    assert "das Alter" in shown
    assert " ja " in shown
    assert " yes " not in shown
    row = int(shown.splitlines()[1].split()[0])
    price = run("price", *words, "--row", row, "--locks", "age").stdout
    assert "das Alter" in price
    assert price.rstrip().endswith(("ja", "nein"))


def test_the_three_questions_about_a_person_have_the_same_default():
    for command in ("alone", "price", "menu"):
        values = next(one for one in main.get_command(None, command).params if one.name == "values")
        assert values.default == "any"


@pytest.mark.parametrize("command", ["app", "serve"])
def test_a_service_reports_what_it_loads_before_it_is_ready(folder, monkeypatch, command):
    app = pytest.importorskip("sev.app")
    seen = []

    def run_nothing(application, listening):
        listening.close()
        seen.append(application)

    monkeypatch.setattr(app, "run", run_nothing)
    result = run(command, folder / "loans.sev", "--port", "0")
    assert seen
    assert result.stderr.splitlines()[0] == f"Loading {folder / 'loans.sev'} ..."
    assert "Preparing" in result.stderr
    assert "is at http" in result.stdout


def test_a_table_with_other_separators_is_recognized(folder):
    (folder / "semicolons.csv").write_text((folder / "new.csv").read_text("utf-8").replace(",", ";"), "utf-8")
    result = CliRunner().invoke(main, ["explain", str(folder / "loans.sev"), str(folder / "semicolons.csv")])
    assert result.exit_code == 2
    assert "Its only column holds ';': save the table with commas between the cells." in result.stderr
