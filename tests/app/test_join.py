"""The modules of the page as one script: for files and notebooks."""

import subprocess

import pytest

from sev.app import _join
from sev.app._join import PageError, join_modules


@pytest.fixture
def modules(monkeypatch):
    """A page of modules that the test writes."""

    def write(**texts):
        named = {f"{name}.js": text for name, text in texts.items()}
        monkeypatch.setattr(_join, "page_file", lambda name: named[name])
        join_modules.cache_clear()

    yield write
    join_modules.cache_clear()


def test_joined_modules_do_what_they_did_apart(modules, tmp_path):
    modules(
        main='import { add, twice as double } from "./sums.js";\nimport "./log.js";\n'
        "export const answer = double(add(20, 1));\nexport class Box { get() { return answer; } }\n",
        sums="let calls = 0;\nexport function add(a, b) { calls += 1; return a + b; }\n"
        "export const twice = (a) => 2 * a;\nexport async function later() { return calls; }\n",
        log='import { add } from "./sums.js";\nglobalThis.logged = add(1, 1);\n',
    )
    script = tmp_path / "joined.mjs"
    script.write_text(join_modules("main.js") + "console.log($entry.answer, new $entry.Box().get(), globalThis.logged)")
    try:
        done = subprocess.run(["node", script], capture_output=True, text=True, check=True, timeout=300)
    except FileNotFoundError:
        pytest.skip("node is not installed")
    assert done.stdout.split() == ["42", "42", "2"]


@pytest.mark.parametrize(
    "line",
    [
        "export default 3;",
        "export let count = 0;",
        'export { add } from "./sums.js";',
        'import * as sums from "./sums.js";',
        'const late = import("./sums.js");',
        'import sums from "./sums.js";',
    ],
)
def test_lines_that_cannot_be_joined_are_refused(modules, line):
    modules(main=line, sums="")
    with pytest.raises(PageError, match=r"main\.js has a line that cannot be joined"):
        join_modules("main.js")


def test_circles_are_refused(modules):
    modules(a='import { b } from "./b.js";', b='import { a } from "./a.js";')
    with pytest.raises(PageError, match=r"a\.js -> b\.js -> a\.js"):
        join_modules("a.js")


@pytest.mark.parametrize("entry", ["file.js", "widget.js"])
def test_the_page_itself_can_be_joined(entry):
    join_modules.cache_clear()
    text = join_modules(entry)
    assert text.rstrip().splitlines()[-1].startswith("const $entry = $module")
    assert "</script" not in text.lower()
