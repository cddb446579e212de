"""Pages as a browser shows them: results in two windows of 1440 x 900, and text that fits a phone."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser import chromium

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = ["decision_sparsity", "peers_changes", "reproduction", "training_beyond", "training_results"]
PAGES = sorted(path.relative_to(DOCS).with_suffix("") for path in [*DOCS.glob("*.md"), *(DOCS / "howto").glob("*.md")])
#: The settings of the site without what runs examples and reads docstrings.
SETTINGS = f"""
from pathlib import Path

__file__ = {str(DOCS / "conf.py")!r}
exec(compile(Path(__file__).read_text(encoding="utf-8"), __file__, "exec"))
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
html_static_path = [{str(DOCS / "_static")!r}]
"""
#: Text that ends beyond the page, where it is not in a block of code or a table, which scroll.
CUT = """
const edge = document.querySelector(".bd-article").getBoundingClientRect().right + 2;
const texts = [...document.querySelectorAll(".bd-article :is(p, li, dd, dt, h1, h2, h3, p code)")];
return texts.filter((one) => !one.closest("pre, table") && one.getBoundingClientRect().right > edge)
  .map((one) => one.textContent.slice(0, 60));
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The written pages as HTML, in the look of the site."""
    for package in ("sphinx", "pydata_sphinx_theme", "sphinx_copybutton", "sphinx_design", "myst_parser"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in PAGES:
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy(DOCS / f"{name}.md", source / f"{name}.md")
    shutil.copytree(DOCS / "images", source / "images")
    (source / "conf.py").write_text(SETTINGS, encoding="utf-8")
    # links to pages that are not built here are warnings, which are not printed
    subprocess.run([sys.executable, "-m", "sphinx", "-Q", "-b", "html", source, built], check=True)
    return built


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def show(browser, path, width, height):
    window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
    browser.get(path.as_uri())


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_of_results_is_two_windows_high(site, browser, name):
    show(browser, site / f"{name}.html", 1440, 900)
    height = browser.execute_script("return document.querySelector('.bd-article').getBoundingClientRect().height")
    assert 900 < height <= 1800


def test_text_fits_a_phone(site, browser):
    cut = {}
    for name in PAGES:
        show(browser, site / f"{name}.html", 390, 844)
        if found := browser.execute_script(CUT):
            cut[str(name)] = found
    assert cut == {}
