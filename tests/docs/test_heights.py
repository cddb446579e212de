"""Pages of results are at most two windows of 1440 x 900 high, as a browser shows them."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser import chromium

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = ["decision_sparsity", "peers_changes", "reproduction", "training_beyond", "training_results"]
#: The settings of the site without what runs examples and reads docstrings.
SETTINGS = f"""
from pathlib import Path

__file__ = {str(DOCS / "conf.py")!r}
exec(compile(Path(__file__).read_text(encoding="utf-8"), __file__, "exec"))
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
html_static_path = [{str(DOCS / "_static")!r}]
root_doc = "results"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages of results as HTML, in the look of the site."""
    for package in ("sphinx", "pydata_sphinx_theme", "sphinx_copybutton", "sphinx_design", "myst_parser"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in ("results", *RESULTS):
        shutil.copy(DOCS / f"{name}.md", source)
    shutil.copytree(DOCS / "images", source / "images")
    (source / "conf.py").write_text(SETTINGS, encoding="utf-8")
    # links to pages that are not built here are warnings, which are not printed
    subprocess.run([sys.executable, "-m", "sphinx", "-Q", "-b", "html", source, built], check=True)
    return built


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        window = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        found.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
        yield found


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_of_results_is_two_windows_high(site, browser, name):
    browser.get((site / f"{name}.html").as_uri())
    height = browser.execute_script("return document.querySelector('.bd-article').getBoundingClientRect().height")
    assert 900 < height <= 1800
