import pytest
from files import loans

pytest.importorskip("pyarrow")


@pytest.fixture(scope="session")
def explainer():
    return loans.explainer()


@pytest.fixture(scope="session")
def archive(explainer, tmp_path_factory):
    path = tmp_path_factory.mktemp("explainer") / "loans.sev"
    explainer.save(path)
    return path
