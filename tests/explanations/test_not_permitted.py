"""Restricted answers say over what they are proven, and that more exists with the features that may not be used."""

import pickle

import numpy as np
import pandas as pd
import pytest

import sev


def _score(rows):
    """Positive from 1.5 on: `age` does more than the two others together."""
    return (0.4 * rows["age"] + 0.2 * rows["debt"] + 0.2 * rows["late"]).to_numpy()


@pytest.fixture
def explainer():
    background = pd.DataFrame({"age": [0.0, 5.0], "debt": [0.0, 5.0], "late": [0.0, 5.0]})
    return sev.Explainer(_score, background, [0, 1], threshold=1.5, reference=background.iloc[[0]])


#: without age: two features instead of one; the same; none at all
ROWS = pd.DataFrame({"age": [3.0, 0.0, 9.0], "debt": [2.0, 8.0, 1.0], "late": [2.0, 0.0, 1.0]})


def test_a_smaller_set_with_other_features_is_stated(explainer):
    many = explainer.explain(ROWS, restricted=["age"])
    assert many.sizes[:2].tolist() == [2.0, 1.0]
    assert many.not_permitted == ("smaller", "none", "only")
    texts = many.to_text()
    assert texts[0].endswith("A smaller set exists, with features that may not be used.")
    assert "may not be used" not in texts[1]
    assert texts[2].endswith("A set exists only with features that may not be used.")
    assert all("smaller set exists, with age" not in text for text in texts)


def test_one_explanation_says_the_same_as_the_batch(explainer):
    many = explainer.explain(ROWS, restricted=["age"])
    alone = [explainer.explain(ROWS.iloc[[row]], restricted=["age"])[0].not_permitted for row in range(3)]
    assert [one.not_permitted for one in many] == alone == ["smaller", "none", "only"]
    assert many[0].to_text() == many.to_text()[0]


def test_another_set_of_the_same_size_is_stated(explainer):
    row = pd.DataFrame({"age": [1.5], "debt": [3.0], "late": [2.0]})
    many = explainer.explain(row, restricted=["age"])
    assert many.not_permitted == ("equal",)
    assert many.to_text()[0].endswith("Another set of the same size exists, with features that may not be used.")


def test_nothing_is_stated_without_restriction(explainer):
    assert explainer.explain(ROWS).not_permitted == ("none",) * 3


def test_files_and_copies_keep_it(explainer):
    many = explainer.explain(ROWS, restricted=["age"])
    assert sev.Explanations.from_json(many.to_json()).not_permitted == many.not_permitted
    assert pickle.loads(pickle.dumps(explainer.explain(ROWS, restricted=["age"]))).not_permitted == many.not_permitted
    assert many[1:].not_permitted == many.not_permitted[1:]


def test_records_and_report_state_the_features_that_the_proof_is_over(explainer, tmp_path):
    many = explainer.explain(ROWS, restricted=["age"])
    with pytest.warns(sev.exceptions.HiddenReasonWarning):
        made = sev.reasons(many, {name: {"code": name, "text": name} for name in ROWS})
    proofs = [record["proof"] for record in made.records()]
    assert proofs[0].startswith("Proven: no smaller set of the permitted features does this. A smaller set exists")
    assert proofs[1] == "Proven: no smaller set of the permitted features does this."
    assert proofs[2].startswith("Proven: no set of the permitted features does this.")
    page = sev.report(many, tmp_path / "report.html").read_text("utf-8")
    assert "no smaller set of the permitted features" in page
    assert "no smaller set of features" not in page


def test_brute_force_agrees_on_random_rows(explainer):
    generator = np.random.default_rng(3)
    rows = pd.DataFrame(generator.integers(0, 8, (200, 3)).astype(float), columns=["age", "debt", "late"])
    kept = explainer.explain(rows, restricted=["age"])
    free = explainer.explain(rows)
    for row in np.flatnonzero(kept.statuses != "not_target").tolist():
        other = [names for names in free[row].sets if "age" in names]
        expected = "none"
        if kept.statuses[row] == "unexplainable":
            expected = "only" if other else "none"
        elif other and free.sizes[row] < kept.sizes[row]:
            expected = "smaller"
        elif other and free.sizes[row] == kept.sizes[row]:
            expected = "equal"
        assert kept.not_permitted[row] == expected


@pytest.fixture
def searched_again(monkeypatch):
    """How many rows each search without the restriction was about."""
    from sev.explainers._source import ExplainerSource

    counts = []
    answer = ExplainerSource.answer

    def count(self, queries):
        counts.append(len(queries))
        return answer(self, queries)

    monkeypatch.setattr(ExplainerSource, "answer", count)
    return counts


def test_only_rows_that_were_explained_are_searched_again(explainer, searched_again):
    nothing_to_undo = pd.DataFrame({"age": [0.0], "debt": [1.0], "late": [1.0]})
    rows = pd.concat([nothing_to_undo, ROWS, nothing_to_undo], ignore_index=True)
    many = explainer.explain(rows, restricted=["age"])
    assert many.not_permitted == ("none", "smaller", "none", "only", "none")
    assert explainer.explain(nothing_to_undo, restricted=["age"]).not_permitted == ("none",)
    assert searched_again == [3]


def test_the_sentences_of_all_sets_come_from_one_search(explainer, searched_again):
    row = pd.DataFrame({"age": [1.5], "debt": [5.0], "late": [5.0]})
    one = explainer.explain(row, restricted=["age"])[0]
    sets = one.alternatives()
    assert [some.explanation.features for some in sets] == [("debt", "late")]
    assert {some.explanation.not_permitted for some in sets} | {one.not_permitted} == {"equal"}
    assert searched_again == [1]
