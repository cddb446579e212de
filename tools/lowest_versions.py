"""Print constraints that pin every dependency and extra to the lowest version that `pyproject.toml` declares."""

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?\s*(>=|==)\s*(?P<lowest>[^,;\s]+)")


def lowest_versions(pyproject: Path = ROOT / "pyproject.toml") -> dict[str, str]:
    """Return the lowest declared version of each package; one without a version is an error."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    found: dict[str, str] = {}
    for requirement in requirements:
        if requirement.startswith(f"{project['name']}["):
            continue  # one extra that includes others
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in {pyproject.name} declares no lowest version: write name>=version")
        if found.setdefault(match["name"], match["lowest"]) != match["lowest"]:
            raise SystemExit(
                f"{match['name']} has two lowest versions in {pyproject.name}: write the same in each place"
            )
    return found


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in sorted(lowest_versions().items()))
