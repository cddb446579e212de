"""Random requests made from the interface's own OpenAPI document: every answer is one that the document names."""

import pytest
from loopback import serving

schemathesis = pytest.importorskip("schemathesis")
pytestmark = pytest.mark.filterwarnings("ignore")  # as a server has it, and for the tool itself

from hypothesis import HealthCheck, given, settings  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sev.app import Service, Table  # noqa: E402

_EXAMPLES = 40
_OPERATIONS = [
    ("get", "/api/about"),
    ("get", "/api/rows"),
    ("get", "/api/threshold"),
    ("get", "/api/groups"),
    ("post", "/api/explain"),
    ("post", "/api/price"),
    ("post", "/api/curve"),
    ("post", "/api/reasons"),
    ("post", "/api/scenarios"),
    ("get", "/healthz"),
    ("get", "/metrics"),
]


@pytest.fixture(scope="module")
def interface(loans):
    explainer, applicants = loans
    with serving(Service([("loans", explainer)], Table.of_frame(applicants, "applicant"))) as address:
        yield schemathesis.openapi.from_url(f"{address}/api/openapi.json")


def test_every_operation_is_tried(interface):
    found = [one.ok() for one in interface.get_all_operations()]
    assert sorted((one.method, one.path) for one in found) == sorted(_OPERATIONS)


@pytest.mark.parametrize(("method", "path"), _OPERATIONS)
def test_answers_are_those_of_the_document(interface, method, path):
    @given(case=interface[path][method].as_strategy())
    @settings(max_examples=_EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def check(case):
        response = case.call()
        assert response.status_code != 500, response.text
        case.validate_response(
            response, checks=[status_code_conformance, content_type_conformance, response_schema_conformance]
        )

    check()
