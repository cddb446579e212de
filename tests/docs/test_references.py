"""The code of the page on references runs as printed."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "references.md"


@pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning")
def test_the_page_runs(capsys):
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(float(line.rsplit(" ", 1)[1]) >= 1.0 for line in lines)
