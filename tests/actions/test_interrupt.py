"""Ctrl-C and the progress bar with values of their own."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import sev
from sev.exceptions import InterruptedExplanation

PROGRAM = """
    import signal, threading, time
    import numpy as np, pandas as pd
    from sklearn.ensemble import RandomForestClassifier
    import sev

    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the process that runs the tests does with it
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(500, 25)), columns=[f"x{at}" for at in range(25)])
    labels = (rows.sum(axis=1) > 0).astype(int)
    model = RandomForestClassifier(150, max_depth=8, random_state=0).fit(rows, labels)
    within = {name: ("-0.3", "+0.3") for name in rows}
    explainer = sev.Explainer(model, rows, labels, actions=sev.Actions(within=within))
    hard = rows[model.predict_proba(rows)[:, 1] > 0.75]
    began = []

    def interrupt():
        time.sleep(2.0)
        began.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        explainer.explain(hard, values="any", time_limit=100.0)
        print("ended")
    except KeyboardInterrupt as stop:
        print("interrupted", len(stop.explanations))
"""


def test_a_long_search_over_cells_is_interrupted():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr


def model_and_rows():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    labels = (rows.sum(axis=1) > 0).astype(int)
    return RandomForestClassifier(9, max_depth=4, random_state=0).fit(rows, labels), rows, labels


def test_what_was_done_before_an_interruption_is_kept(monkeypatch):
    from sev.explainers import _free_batches

    model, rows, labels = model_and_rows()
    explainer = sev.Explainer(model, rows, labels)
    whole = explainer.explain(rows, values="any")
    answer, n_calls = _free_batches.answer_free_chunk, []

    def answer_two(tasks, queries, settings, **options):
        n_calls.append(len(queries))
        if len(n_calls) == 3:
            raise KeyboardInterrupt
        return answer(tasks, queries, settings, **options)

    monkeypatch.setattr(_free_batches, "answer_free_chunk", answer_two)
    monkeypatch.setattr(_free_batches, "_SECONDS", 1e-9)  # the fewest rows at a time after the first chunk
    with pytest.raises(InterruptedExplanation, match="80 of 400 rows were explained") as stop:
        explainer.explain(rows, values="any")
    kept = stop.value.explanations
    assert n_calls[:2] == [64, 16]
    assert len(kept) == 400
    assert set(kept.statuses[80:]) == {"undecided"}
    for one, other in zip(kept[:80], whole[:80], strict=True):
        assert one.changes == other.changes
        assert one.sets == other.sets


def test_a_bar_counts_the_rows(capsys):
    model, rows, labels = model_and_rows()
    sev.Explainer(model, rows, labels).explain(rows, values="any", progress=True)
    assert "400/400" in capsys.readouterr().err


def test_answers_do_not_depend_on_workers():
    model, rows, labels = model_and_rows()
    explainer = sev.Explainer(model, rows, labels)
    many = pd.concat([rows] * 6, ignore_index=True)
    assert explainer.explain(many, values="any", n_jobs=2).to_json() == explainer.explain(many, values="any").to_json()
