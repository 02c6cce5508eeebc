"""The description is true: a program that reads it, and nothing else, meets no answer that is not described."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from dowse.interfaces.http.openapi import described

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
)
_NEVER_ENDING = {"job_events"}
"""Streams: tests of their own follow them."""

schema = schemathesis.openapi.from_dict(described())
schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])


@pytest.mark.usefixtures("api")
@schema.exclude(operation_id=list(_NEVER_ENDING)).parametrize()
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
def test_every_answer_is_described(api, case):
    response = case.call(base_url=api.address, headers={"Authorization": f"Bearer {api.token}"}, timeout=60)
    case.validate_response(response, checks=CHECKS)
