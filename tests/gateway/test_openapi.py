"""All requests and responses agree with the OpenAPI document."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from support.examples import examples

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SOME = settings(max_examples=examples(30), deadline=None, database=None, suppress_health_check=list(HealthCheck))


def check_every_operation(url: str, **exclusions: str) -> int:
    """Send made-up requests to every operation of the document, and return how many operations there are."""
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    if exclusions:
        document = document.exclude(**exclusions)
    operations = [result.ok() for result in document.get_all_operations()]
    for operation in operations:

        @SOME
        @seed(1)
        @given(case=operation.as_strategy())
        def promised(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS)

        promised()
    return len(operations)


@pytest.mark.slow
def test_over_a_file_every_answer_is_a_documented_one(settings: Settings) -> None:
    with run_gateway(settings.changed(gateway_overrides=True)) as url:
        assert check_every_operation(url, tag="search") >= 10


def test_over_a_cluster_every_answer_is_a_documented_one(leases: Leases) -> None:
    with run_gateway(leases.settings.changed(gateway_overrides=True)) as url:
        # Elasticsearch assembled from Maven has no root to ask.
        exclusions = {"path": "/"} if leases.kind == "elasticsearch" else {}
        assert check_every_operation(url, **exclusions) >= 15
