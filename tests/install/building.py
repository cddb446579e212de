"""Commands that the tests of installations run."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command, environment=None, cwd=None):
    """Run a command and return its output; a failure shows what it wrote."""
    done = subprocess.run([*map(str, command)], env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
