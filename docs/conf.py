"""How Sphinx builds the documentation: ``make docs`` writes it to ``docs/_build/html``, without network."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import sev

project = "sev"
author = "the sev developers"
release = version = sev.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "markdown_copies",
]
exclude_patterns = ["_build", "pages", "auto_examples/*.ipynb", "sg_execution_times.rst"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True}
autodoc_typehints = "none"  # the docstrings name the types, in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"  # the list of a page is too narrow for whole paths
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/\d+_",
    # This example needs a data set that does not ship with the package; without it, it ends the process that runs it.
    "ignore_pattern": r"02_restricted" if "SEV_DATA_HOME" not in os.environ else r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "abort_on_example_error": True,
}
# sphinx-gallery shows what an example draws or prints; that agg shows no window is what we want here.
warnings.filterwarnings("ignore", message=".*agg.*cannot be shown.*")

html_theme = "pydata_sphinx_theme"
html_title = "sev"
html_static_path = ["_static"]
html_css_files = ["sev.css"]
html_show_sourcelink = False
# pages without pages below them have nothing to show at the left
html_sidebars = {page: [] for page in ("index", "start", "questions", "models", "asked_elsewhere", "citing")}
# pages of results have four sections in two windows: their tables need the width more than a list of the sections
WITHOUT_CONTENTS = ("decision_sparsity", "peers_changes", "reproduction", "training_beyond", "training_results")
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in WITHOUT_CONTENTS}},
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
}
html_copy_source = False
copyright = "the sev developers, BSD-3-Clause"
