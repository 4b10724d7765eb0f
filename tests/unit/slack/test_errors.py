"""One table of errors: complete, and told apart by Slack's codes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from slack_sdk import errors as slack_errors
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack import errors
from adapters.slack.errors import GONE, THREAD, refused, translate
from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

RETRY, GIVE_UP = Disposition.RETRY, Disposition.GIVE_UP
SECRET = "private words"

LIBRARY = {
    kind
    for _, kind in inspect.getmembers(slack_errors, inspect.isclass)
    if issubclass(kind, Exception)
}
TRANSPORT = {
    kind
    for _, kind in inspect.getmembers(aiohttp, inspect.isclass)
    if issubclass(kind, Exception) and not issubclass(kind, Warning)
}
#: no failures of a request: of our own server, or of reading a closed socket
NO_REQUEST = {aiohttp.EofStream, aiohttp.WebSocketError}


def answered(body: Any, status: int = 200, **headers: str) -> Exception:
    response = AsyncSlackResponse(
        client=AsyncWebClient("xoxb-1-x"),
        http_verb="POST",
        api_url="https://e.org/api/chat.postMessage",
        req_args={"json": {"text": SECRET}},
        data=body,
        headers=headers,
        status_code=status,
    )
    make: Callable[[str, object], Exception] = slack_errors.SlackApiError
    return make("The request to the Slack API failed.", response)


def test_every_class_of_the_library_has_its_own_row() -> None:
    missing = LIBRARY - errors.TABLE.keys()
    assert missing == set(), f"add a row to adapters.slack.errors.TABLE for {missing}"


def test_every_class_of_the_transport_is_judged() -> None:
    rows = tuple(errors.TABLE)
    unjudged = {kind for kind in TRANSPORT - NO_REQUEST if not issubclass(kind, rows)}
    assert unjudged == set()


@pytest.mark.parametrize(
    ("code", "kind", "found"),
    [
        ("invalid_auth", CredentialsError, "credentials"),
        ("token_revoked", CredentialsError, "credentials"),
        ("account_inactive", CredentialsError, "credentials"),
        ("channel_not_found", UnreachableError, "unreachable"),
        ("is_archived", UnreachableError, "unreachable"),
        ("not_in_channel", UnreachableError, "unreachable"),
        ("thread_not_found", PlatformError, THREAD),
        ("restricted_action_thread_locked", PlatformError, THREAD),
        ("restricted_action_non_threadable_channel", PlatformError, THREAD),
        ("cannot_reply_to_message", PlatformError, THREAD),
        ("message_not_found", PlatformError, GONE),
        ("msg_too_long", PlatformError, "too_long"),
        ("no_text", PlatformError, "empty"),
        ("missing_scope", PlatformError, "missing_scope"),
        ("something_new", PlatformError, "refused"),
    ],
)
def test_refusals_are_told_apart(code: str, kind: type[PlatformError], found: str) -> None:
    error = translate(answered({"ok": False, "error": code}))
    assert (type(error), error.code, error.disposition) == (kind, found, GIVE_UP)
    assert SECRET not in str(error)


@pytest.mark.parametrize(
    ("error", "code", "open_when_sending"),
    [
        (answered({"ok": False, "error": "internal_error"}), "network", True),
        (answered({"ok": False, "error": "fatal_error"}, 500), "network", True),
        (answered({"ok": False, "error": "service_unavailable"}), "busy", False),
        (answered({}, 502), "network", True),
        (answered({}), "unreadable", True),
        (answered("<html>"), "unreadable", True),
        (aiohttp.ServerDisconnectedError(), "network", True),
        (aiohttp.ClientPayloadError(), "network", True),
        (TimeoutError(), "timeout", True),
        (aiohttp.ServerTimeoutError(), "network", True),
        (aiohttp.ConnectionTimeoutError(), "network", False),
        (ConnectionResetError(), "network", True),
        (KeyError("ts"), "unreadable", True),
    ],
)
def test_a_send_is_repeated_only_when_it_never_left(
    error: Exception, code: str, open_when_sending: bool
) -> None:
    reading, sending = translate(error), translate(error, sending=True)
    assert (reading.code, reading.disposition) == (code, RETRY)
    assert isinstance(sending, AmbiguousSendError) == open_when_sending


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [(429, {"Retry-After": "30"}, 30.0), (429, {}, 5.0), (200, {"Retry-After": "soon"}, 5.0)],
)
def test_how_long_to_wait(status: int, headers: dict[str, str], seconds: float) -> None:
    """H-34."""
    body = {"ok": False, "error": "ratelimited"}
    limited = translate(answered(body, status, **headers), sending=True)
    assert isinstance(limited, RateLimitedError)
    assert (limited.retry_after, limited.whole_account) == (seconds, False)


def test_an_inactive_account_is_the_addressees_when_sending() -> None:
    """H-35."""
    error = answered({"ok": False, "error": "account_inactive"})
    assert isinstance(translate(error, sending=True), UnreachableError)


@pytest.mark.parametrize("kind", sorted(LIBRARY - {slack_errors.SlackApiError}, key=str))
def test_every_library_error_becomes_ours(kind: type[Exception]) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, SECRET)
    assert SECRET not in str(translate(error))


def test_the_remedy_names_the_variable() -> None:
    assert "SLACK_BOT_TOKEN" in str(refused("invalid_auth"))
