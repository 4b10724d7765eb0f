"""The error table knows every exception of the libraries and lets no body out."""

from __future__ import annotations

import inspect
import traceback

import openai
import pytest
from pydantic_ai import exceptions
from pydantic_ai.models.function import FunctionModel

from gateway.agent import errors
from gateway.agent.prompt import Persona
from gateway.agent.run import ModelAgent
from gateway.model.errors import AgentError, Disposition
from gateway.text import catalog
from tests.unit.agent.samples import FixedModel, ask

#: signals between tools, hooks and the loop: they never leave a run
SIGNALS = {
    exceptions.ModelRetry,
    exceptions.ToolFailed,
    exceptions.CallDeferred,
    exceptions.ApprovalRequired,
    exceptions.SkipModelRequest,
    exceptions.RetryModelRequest,
    exceptions.SkipToolValidation,
    exceptions.SkipToolExecution,
    exceptions.RunCancelled,  # we cancel the task, never the run
}
#: parts of the library that are not used
UNUSED = {
    openai.InvalidWebhookSignatureError,
    openai.OAuthError,
    openai.WebSocketConnectionClosedError,
    openai.WebSocketQueueFullError,
}
GROUP = exceptions.FallbackExceptionGroup

HTTP = exceptions.ModelHTTPError.for_category
RETRY, GIVE_UP = Disposition.RETRY, Disposition.GIVE_UP


def exceptions_of(module: object) -> list[type[Exception]]:
    names: list[str] = module.__all__  # type: ignore[attr-defined]  # both modules have it
    found = [getattr(module, name) for name in names]
    return [
        one
        for one in found
        if inspect.isclass(one) and issubclass(one, Exception) and not issubclass(one, Warning)
    ]


@pytest.mark.parametrize("kind", [*exceptions_of(exceptions), *exceptions_of(openai)])
def test_every_exception_has_a_row_of_its_own(kind: type[Exception]) -> None:
    assert kind in {*errors.TABLE, *SIGNALS, *UNUSED, GROUP}


def test_no_row_is_hidden_by_one_before_it() -> None:
    kinds = list(errors.TABLE)
    hidden = [
        (kind, earlier)
        for position, kind in enumerate(kinds)
        for earlier in kinds[:position]
        if issubclass(kind, earlier)
    ]
    assert hidden == []


def test_every_user_text_is_in_the_catalogue() -> None:
    assert {verdict.user_text for verdict in errors.TABLE.values()} <= set(catalog.TEXTS["en"])


@pytest.mark.parametrize(
    ("error", "code", "disposition", "user_text"),
    [
        (
            HTTP(exceptions.ModelRateLimitError, status_code=429, model_name="m"),
            "model_rate_limited",
            RETRY,
            "failed.rate_limited",
        ),
        (
            HTTP(exceptions.ModelServerError, status_code=500, model_name="m"),
            "model_unavailable",
            RETRY,
            "failed.unavailable",
        ),
        (
            HTTP(exceptions.ModelAuthenticationError, status_code=401, model_name="m"),
            "model_credentials",
            GIVE_UP,
            "failed.credentials",
        ),
        (
            HTTP(exceptions.ModelRequestRejectedError, status_code=400, model_name="m"),
            "model_refused",
            GIVE_UP,
            "failed.model",
        ),
        (
            HTTP(
                exceptions.ModelRequestRejectedError,
                status_code=400,
                model_name="m",
                provider_error_type="exceed_context_size_error",
            ),
            "context_too_long",
            GIVE_UP,
            "failed.context",
        ),
        (
            exceptions.ModelConnectionError("m", "refused"),
            "model_unavailable",
            RETRY,
            "failed.unavailable",
        ),
        (exceptions.ModelTimeoutError("m", "slow"), "model_timeout", RETRY, "failed.timeout"),
        (exceptions.UsageLimitExceeded("8"), "request_limit", GIVE_UP, "failed.model"),
        (
            HTTP(exceptions.ModelQuotaExceededError, status_code=402, model_name="m"),
            "model_quota",
            GIVE_UP,
            "failed.unavailable",
        ),
    ],
)
def test_what_becomes_of_a_turn(
    error: Exception, code: str, disposition: Disposition, user_text: str
) -> None:
    translated = errors.translate(error)
    assert (translated.code, translated.disposition, translated.user_text) == (
        code,
        disposition,
        user_text,
    )


def test_the_wait_that_was_asked_for_is_kept() -> None:
    busy = HTTP(
        exceptions.ModelRateLimitError,
        status_code=429,
        model_name="m",
        headers={"Retry-After": "7"},
    )
    assert errors.translate(busy).retry_after == 7


def test_of_several_models_the_most_hopeful_counts() -> None:
    key = HTTP(exceptions.ModelAuthenticationError, status_code=401, model_name="a")
    busy = HTTP(exceptions.ModelRateLimitError, status_code=429, model_name="b", retry_after=3)
    translated = errors.translate(GROUP("all failed", [key, busy]))
    assert translated.code == "model_rate_limited"
    assert translated.retry_after == 3
    assert "model a" in str(translated)
    assert "model b" in str(translated)


async def test_no_body_reaches_a_message_or_a_traceback() -> None:
    secret = "sk-very-secret and what Ada said"

    async def refuse(*_: object) -> str:
        raise HTTP(
            exceptions.ModelRequestRejectedError,
            status_code=400,
            model_name=secret,
            body={"error": {"message": secret}},
            provider_error_code=secret,
        )

    async def stream(*_: object):  # type: ignore[no-untyped-def]  # the library's own shape
        yield await refuse()

    agent = ModelAgent(FixedModel(FunctionModel(stream_function=stream)), Persona())
    with pytest.raises(AgentError) as caught:
        await ask(agent, "Hi")
    shown = "".join(traceback.format_exception(caught.value))
    assert secret not in shown
    assert "HTTP 400" in str(caught.value)
