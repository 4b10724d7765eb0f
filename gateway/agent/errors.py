"""What the model libraries raise, as ``AgentError``: one table, the first match decides."""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpx2
import openai
from pydantic_ai import exceptions

from gateway.model.errors import AgentError, Disposition

_RETRY, _GIVE_UP = Disposition.RETRY, Disposition.GIVE_UP


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a turn, what its person is told and what the operator can do."""

    code: str
    disposition: Disposition
    user_text: str
    remedy: str


_BUSY = Verdict(
    "model_rate_limited", _RETRY, "failed.rate_limited", "the provider is asked too often"
)
_AWAY = Verdict("model_unavailable", _RETRY, "failed.unavailable", "the provider fails or is down")
_SLOW = Verdict("model_timeout", _RETRY, "failed.timeout", "the provider did not answer in time")
_TURN_OVER = Verdict(
    "turn_timeout", _GIVE_UP, "failed.timeout", "model.timeout is the limit for a whole turn"
)
_KEY = Verdict(
    "model_credentials", _GIVE_UP, "failed.credentials", "check the provider's key in .env"
)
_QUOTA = Verdict(
    "model_quota", _GIVE_UP, "failed.unavailable", "the account's quota or credit is used up"
)
_CONTEXT = Verdict(
    "context_too_long", _GIVE_UP, "failed.context", "lower model.max_history_tokens"
)
_NO_MODEL = Verdict(
    "model_not_found", _GIVE_UP, "failed.model", "check model.name and model.base_url"
)
_REFUSED = Verdict("model_refused", _GIVE_UP, "failed.model", "the provider refused the request")
_ODD = Verdict("model_garbled", _RETRY, "failed.model", "the answer could not be read")
_FILTERED = Verdict("model_filtered", _GIVE_UP, "failed.model", "the provider's filter stopped it")
_CUT = Verdict("model_cut", _GIVE_UP, "failed.model", "the answer hit the model's output limit")
_LOOP = Verdict(
    "request_limit", _GIVE_UP, "failed.model", "model.request_limit is the limit for a turn"
)
_MISUSE = Verdict("model_misuse", _GIVE_UP, "failed.model", "the model library was misused")

#: the more specific class stands before the class it derives from
TABLE: dict[type[Exception], Verdict] = {
    exceptions.RunTimedOut: _TURN_OVER,
    exceptions.ModelRateLimitError: _BUSY,
    exceptions.ModelQuotaExceededError: _QUOTA,
    exceptions.ModelOverloadedError: _AWAY,
    exceptions.ModelUnavailableError: _AWAY,
    exceptions.ModelServerError: _AWAY,
    exceptions.ModelTimeoutError: _SLOW,
    exceptions.ModelRequestTimeout: _SLOW,
    exceptions.ModelConnectionError: _AWAY,
    exceptions.ModelAuthenticationError: _KEY,
    exceptions.ModelNotFoundError: _NO_MODEL,
    exceptions.ModelContextWindowExceededError: _CONTEXT,
    exceptions.ModelRequestRejectedError: _REFUSED,
    exceptions.ModelHTTPError: _REFUSED,
    exceptions.ModelAPIError: _AWAY,
    exceptions.ContentFilterError: _FILTERED,
    exceptions.IncompleteToolCall: _CUT,
    exceptions.OutputTokenLimitExceeded: _CUT,
    exceptions.UnexpectedModelBehavior: _ODD,
    exceptions.UsageLimitExceeded: _LOOP,
    exceptions.ConcurrencyLimitExceeded: _BUSY,
    exceptions.SuspendedResponseExpired: _ODD,
    exceptions.AgentRunError: _MISUSE,
    exceptions.UndrainedPendingMessagesError: _MISUSE,
    exceptions.UserError: _MISUSE,
    openai.RateLimitError: _BUSY,
    openai.AuthenticationError: _KEY,
    openai.PermissionDeniedError: _KEY,
    openai.NotFoundError: _NO_MODEL,
    openai.BadRequestError: _REFUSED,
    openai.UnprocessableEntityError: _REFUSED,
    openai.ConflictError: _AWAY,
    openai.ContentFilterFinishReasonError: _FILTERED,
    openai.LengthFinishReasonError: _CUT,
    openai.InternalServerError: _AWAY,
    openai.APITimeoutError: _SLOW,
    openai.APIConnectionError: _AWAY,
    openai.APIResponseValidationError: _ODD,
    openai.APIStatusError: _REFUSED,
    openai.APIError: _AWAY,
    openai.OpenAIError: _MISUSE,
    httpx2.TimeoutException: _SLOW,
    httpx2.TransportError: _AWAY,
    httpx2.StreamError: _AWAY,
    httpx2.HTTPError: _AWAY,
}

#: what may be caught around a run; a group is judged by its members
CAUGHT: tuple[type[Exception], ...] = (*TABLE, exceptions.FallbackExceptionGroup)

#: a further model is tried after these
OUTAGES = (
    exceptions.ModelRateLimitError,
    exceptions.ModelQuotaExceededError,
    exceptions.ModelUnavailableError,
    exceptions.ModelServerError,
    exceptions.ModelConnectionError,
    exceptions.ModelRequestTimeout,
)

#: codes by which servers that the library does not know say that a prompt is too long
_CONTEXT_CODES = frozenset({"exceed_context_size_error", "context_length_exceeded"})
_BAD_REQUEST = frozenset({400, 413, 415, 422})
#: key, permission and rate
_OTHER_REASONS = frozenset({401, 402, 403, 429})
_PICTURE = re.compile(r"image|vision|multimodal|mmproj", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9_.:/-]{1,80}")


def translate(error: Exception) -> AgentError:
    """Return the ``AgentError`` for a library's error.

    Its detail names class, status, the provider's code and the remedy, never the body: that may
    repeat the conversation or the key. For the same reason raise it ``from None``.
    """
    if isinstance(error, exceptions.FallbackExceptionGroup):
        return _most_hopeful([translate(one) for one in error.exceptions])
    verdict = _verdict(error)
    return AgentError(
        f"{_describe(error)}: {verdict.remedy}",
        code=verdict.code,
        disposition=verdict.disposition,
        retry_after=getattr(error, "retry_after", None),
        user_text=verdict.user_text,
    )


def context_too_long(error: Exception) -> bool:
    """Tell whether a shorter history may help."""
    if isinstance(error, exceptions.FallbackExceptionGroup):
        return any(context_too_long(one) for one in error.exceptions)
    return _verdict(error) is _CONTEXT


def picture_refused(error: Exception) -> bool:
    """Tell whether the same request without its pictures may help.

    Servers refuse a picture as any bad request, or fail and name it in words of their own.
    """
    if isinstance(error, exceptions.FallbackExceptionGroup):
        return any(picture_refused(one) for one in error.exceptions)
    if not isinstance(error, exceptions.ModelHTTPError) or _verdict(error) is _CONTEXT:
        return False
    if error.status_code in _BAD_REQUEST:
        return True
    names_it = _PICTURE.search(str(error.body)) is not None
    return names_it and error.status_code not in _OTHER_REASONS


def _verdict(error: Exception) -> Verdict:
    if _provider_code(error) in _CONTEXT_CODES:
        return _CONTEXT
    return next(verdict for kind, verdict in TABLE.items() if isinstance(error, kind))


def _most_hopeful(errors: list[AgentError]) -> AgentError:
    waits = [one.retry_after for one in errors if one.retry_after is not None]
    chosen = next((one for one in errors if one.disposition is _RETRY), errors[0])
    details = "; ".join(str(one) for one in errors)
    return AgentError(
        f"every model failed: {details}",
        code=chosen.code,
        disposition=chosen.disposition,
        retry_after=min(waits, default=None) if chosen.disposition is _RETRY else None,
        user_text=chosen.user_text,
    )


def _describe(error: Exception) -> str:
    facts = [type(error).__name__]
    for label, value in (
        ("HTTP", getattr(error, "status_code", None)),
        ("code", _provider_code(error)),
        ("model", getattr(error, "model_name", None)),
    ):
        if value is not None and _WORD.fullmatch(str(value)):
            facts.append(f"{label} {value}")
    return " ".join(facts)


def _provider_code(error: Exception) -> str | None:
    code = getattr(error, "provider_error_code", None)
    kind = getattr(error, "provider_error_type", None)
    return str(kind) if kind in _CONTEXT_CODES else code
