"""A data scientist in a notebook: a real kernel runs the cells, and what they show is rendered in a real browser."""

import html
import os
import re
from pathlib import Path

import pytest
from browser import chromium

nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("lightgbm")
ROOT = Path(__file__).parents[2]

CELLS = [
    "import sev\nfrom lightgbm import LGBMClassifier\nfrom users import homes\n"
    "rows, denied = homes.applications()\n"
    "model = LGBMClassifier(n_estimators=40, num_leaves=7, verbose=-1).fit(rows[:500], denied[:500])",
    "import yaml\nlabels = yaml.safe_load(homes.LABELS)\n"
    "explainer = sev.Explainer(model, rows[:500], denied[:500], restricted=['dependants'], labels=labels)\n"
    "explainer",
    "many = explainer.explain(rows[500:])\nmany",
    "one = many[many.statuses == 'optimal'][0]\none",
    "one.plot();",
    "many[many.sizes == 2]",
    "many.loc[[507, 505, 506]].to_frame()",
    "explainer.explain_one({'nothing': 1})",
    "many.verify()\nprint('verified', len(many))",
    "[name for name in dir(sev) if name.startswith('_') and not name.startswith('__')]",
    "many[many.sizes > 99]",
    "codes = {name: {'code': name[:2], 'text': f'Reason {name}'} for name in rows.columns}\n"
    "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n"
    "    found = sev.reasons(many, codes)\nfound",
]
FAILS = 7


@pytest.fixture(scope="module")
def notebook():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    book.cells[FAILS].metadata["tags"] = ["raises-exception"]
    paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    kernel_env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "MPLBACKEND": ""}
    client = nbclient.NotebookClient(book, timeout=240, kernel_name="python3")
    client.execute(env=kernel_env)
    return book


def shown(cell, kind):
    return "".join(
        output["data"].get(kind, "")
        for output in cell.outputs
        if output.output_type in ("execute_result", "display_data")
    )


def words(cell):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown(cell, "text/html"))))


def test_the_explainer_says_what_it_is(notebook):
    text = words(notebook.cells[1])
    for part in (
        "Model LGBMClassifier",
        "Search trees",
        "Restricted dependants",
        "Class being explained 'yes'",
        "Reference:",
    ):
        assert part in text, text


def test_many_show_a_summary_and_then_the_explained_rows(notebook):
    text = words(notebook.cells[2])
    assert text.index("of 200 rows") < text.index("mean_size") < text.index("payment_share")
    assert "not_target" not in shown(notebook.cells[2], "text/html").partition("</table>")[2]
    assert "more explained rows" in text
    assert "<td>2</td>" in shown(notebook.cells[2], "text/html")
    assert "<td>2.0</td>" not in shown(notebook.cells[2], "text/html")


def test_one_is_a_sentence_and_a_table(notebook):
    text = words(notebook.cells[3])
    assert "Denied (score 0." in text
    assert "it would have been approved" in text
    assert "SEV- 1" in text


def test_a_picture_is_drawn(notebook):
    assert len(shown(notebook.cells[4], "image/png")) > 10_000


def test_rows_are_chosen_by_masks_and_labels(notebook):
    assert "of 200 rows" not in words(notebook.cells[5])
    assert words(notebook.cells[6]).index("507") < words(notebook.cells[6]).index("505")


def test_an_error_ends_with_the_message_of_the_package(notebook):
    [error] = [output for output in notebook.cells[FAILS].outputs if output.output_type == "error"]
    assert error.ename == "InputError"
    assert "lacks" in error.evalue


def test_an_empty_selection_says_so(notebook):
    assert "No row was chosen" in words(notebook.cells[10])


def test_reasons_are_a_table(notebook):
    text = words(notebook.cells[11])
    assert "Reasons of 200 decisions" in text
    assert "compared with" in text
    assert "more reasons" in text


def test_it_is_verified_and_only_public_names_are_listed(notebook):
    assert notebook.cells[8].outputs[0].text == "verified 200\n"
    assert shown(notebook.cells[9], "text/plain") == "[]"


def test_no_cell_warns(notebook):
    noise = [output.text for cell in notebook.cells for output in cell.outputs if output.get("name") == "stderr"]
    assert noise == []


def test_what_is_shown_fits_a_page(notebook, tmp_path):
    body = "".join(
        f"<section>{shown(cell, 'text/html')}"
        + (f"<img src='data:image/png;base64,{picture}'>" if (picture := shown(cell, "image/png")) else "")
        + "</section>"
        for cell in notebook.cells
    )
    page = tmp_path / "notebook.html"
    style = (
        "body{font:13px sans-serif;width:700px;margin:0}img{max-width:100%}"
        "table{border-collapse:collapse}td,th{padding:4px 8px;text-align:right}"
    )
    page.write_text(f"<!doctype html><meta charset='utf-8'><style>{style}</style>{body}", encoding="utf-8")
    with chromium() as driver:
        driver.get(page.as_uri())
        assert driver.get_log("browser") == []
        # each part is as wide as a notebook at most, folded parts too, and a picture is drawn
        widths = driver.execute_script(
            "document.querySelectorAll('details').forEach(x => x.open = true);"
            "return [...document.querySelectorAll('section > p, img, table')].map(x => x.getBoundingClientRect().right)"
        )
        assert widths
        assert max(widths) <= 700
        assert driver.execute_script("return document.images[0].naturalWidth") > 300
        tables = driver.execute_script("return [...document.querySelectorAll('table')].map(x => x.rows.length)")
        assert max(tables) <= 21 + 1
        if os.environ.get("SEV_SCREENSHOTS"):
            driver.set_window_size(1280, 3200)
            driver.save_screenshot(str(Path(os.environ["SEV_SCREENSHOTS"]) / "notebook.png"))
