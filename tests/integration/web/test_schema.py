"""What the OpenAPI document promises holds for whatever is sent: no 5xx, nobody unknown."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.web import access
from gateway.web.doors import Role
from tests.fakes.household import MIRA
from tests.integration.web.conftest import running

if TYPE_CHECKING:
    from tests.integration.pipeline.support import House

#: examples for each operation: a few on each change, many for ``make check-web``
EXAMPLES = 50 if os.environ.get("CHECK_WEB") == "full" else 1
CHECKS: list[Any] = [
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
    ignored_auth,
]


@pytest.mark.timeout(900)
async def test_the_api_keeps_its_word_whatever_is_sent(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # so many wrong tokens would have to wait
    monkeypatch.setattr(access, "WRONG", 1_000_000)
    async with running(house) as site:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        address = site.page.address
        token = await site.doors.token(Role.OPERATOR, holds=timedelta(days=300), by="test")
        tried = await asyncio.to_thread(_fuzz, address, {"Authorization": f"Bearer {token}"})
        assert tried >= 20
        # whatever was done to it, it is still a gateway
        house.tg.say("are you well?", user=MIRA)
        await house.until(lambda: "re: are you well?" in house.texts(), "an answer")


def _fuzz(address: str, headers: dict[str, str]) -> int:
    """Send what fits the document, and what does not; return how many operations were tried."""
    schema = schemathesis.openapi.from_url(f"{address}/api/openapi.json", headers=headers)
    operations: list[Any] = [each.ok() for each in schema.get_all_operations()]  # type: ignore[union-attr]  # our own document is valid
    for operation in operations:
        _hold(operation, headers)
    return len(operations)


def _hold(operation: Any, headers: dict[str, str]) -> None:
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy())
    def hold(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    hold()
