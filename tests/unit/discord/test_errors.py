"""One table of errors: complete, most specific first, told apart by Discord's codes."""

from __future__ import annotations

import inspect
import zlib
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import pytest
from discord.gateway import ReconnectWebSocket, WebSocketClosure

from adapters.discord import errors
from adapters.discord.errors import GONE, REPLY, translate, translated
from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from tests.emulators.discord import make_token

RETRY, GIVE_UP = Disposition.RETRY, Disposition.GIVE_UP
NO_GATEWAY = discord.GatewayNotFound()  # type: ignore[no-untyped-call]  # the library's

LIBRARY = {
    kind
    for _, kind in inspect.getmembers(discord.errors, inspect.isclass)
    if issubclass(kind, discord.DiscordException)
}
TRANSPORT = {
    kind
    for _, kind in inspect.getmembers(aiohttp, inspect.isclass)
    if issubclass(kind, aiohttp.ClientError)
}
#: a request that failed like this may have been read to its end
HANDED_OVER = {
    *(aiohttp.ClientError, aiohttp.ClientConnectionError, aiohttp.ClientOSError),
    *(aiohttp.ClientResponseError, aiohttp.ClientPayloadError, aiohttp.ContentTypeError),
    *(aiohttp.ServerConnectionError, aiohttp.ServerDisconnectedError, aiohttp.ServerTimeoutError),
    *(aiohttp.SocketTimeoutError, aiohttp.TooManyRedirects, aiohttp.WSServerHandshakeError),
    *(aiohttp.ClientConnectionResetError, aiohttp.ClientHttpProxyError),
    *(aiohttp.RedirectClientError, aiohttp.NonHttpUrlRedirectClientError),
    aiohttp.InvalidUrlRedirectClientError,
    *(aiohttp.WSMessageTypeError, aiohttp.NonHttpUrlClientError),
    getattr(aiohttp, "UploadAbortedError", aiohttp.ClientError),  # since 3.14
}


def refusal(
    status: int,
    code: int = 0,
    text: str = "words of Discord",
    *,
    kind: type[discord.HTTPException] = discord.HTTPException,
    errors: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> discord.HTTPException:
    response: Any = SimpleNamespace(status=status, reason="", headers=headers or {})
    body = {"code": code, "message": text} | ({"errors": errors} if errors else {})
    return kind(response, body)


def fields(name: str) -> dict[str, Any]:
    return {name: {"_errors": [{"code": "X", "message": "Must be 2000 or fewer in length."}]}}


def test_every_class_of_the_library_has_its_own_row() -> None:
    missing = LIBRARY - errors.TABLE.keys()
    assert missing == set(), f"add a row to adapters.discord.errors.TABLE for {missing}"


def test_every_class_of_the_transport_is_judged() -> None:
    left = {
        kind for kind in TRANSPORT - HANDED_OVER if not issubclass(kind, errors.NOT_HANDED_OVER)
    }
    assert left == set(), f"may a send be repeated after {left}?"


@pytest.mark.parametrize(
    ("status", "code", "kind", "meaning"),
    [
        (403, 50007, UnreachableError, "unreachable"),
        (403, 50001, UnreachableError, "unreachable"),
        (403, 50013, UnreachableError, "unreachable"),
        (403, 50005, UnreachableError, "unreachable"),
        (404, 10003, UnreachableError, "unreachable"),
        (404, 10008, PlatformError, GONE),
        (404, 10062, PlatformError, "too_late"),
        (400, 160005, UnreachableError, "unreachable"),
        (400, 50006, PlatformError, "empty"),
        (400, 50109, PlatformError, "refused"),
        (413, 40005, PlatformError, "too_large"),
    ],
)
def test_refusals_are_told_apart(
    status: int, code: int, kind: type[PlatformError], meaning: str
) -> None:
    error = translate(refusal(status, code), sending=True)
    assert (type(error), error.code, error.disposition) == (kind, meaning, GIVE_UP)
    assert str(code) in str(error)


@pytest.mark.parametrize(
    ("field", "meaning"),
    [("message_reference", REPLY), ("content", "too_long"), ("nonce", "refused")],
)
def test_forms_are_told_apart_by_field(field: str, meaning: str) -> None:
    """H-36."""
    error = translate(refusal(400, 50035, "Invalid Form Body", errors=fields(field)))
    assert error.code == meaning


@pytest.mark.parametrize(
    ("error", "kind", "disposition"),
    [
        (refusal(401), CredentialsError, GIVE_UP),
        (refusal(500, kind=discord.DiscordServerError), PlatformError, RETRY),
        (refusal(503, kind=discord.DiscordServerError), PlatformError, RETRY),
        (discord.LoginFailure("x"), CredentialsError, GIVE_UP),
        (discord.PrivilegedIntentsRequired(None), CredentialsError, GIVE_UP),
        (NO_GATEWAY, PlatformError, RETRY),
        (discord.InvalidData("x"), PlatformError, RETRY),
        (discord.MissingApplicationID(), PlatformError, GIVE_UP),
        (ReconnectWebSocket(None), PlatformError, RETRY),
        (WebSocketClosure(), PlatformError, RETRY),
        (aiohttp.ServerDisconnectedError(), PlatformError, RETRY),
        (ConnectionResetError(), PlatformError, RETRY),
        (TimeoutError(), PlatformError, RETRY),
        (KeyError("id"), PlatformError, RETRY),
        (zlib.error("x"), PlatformError, RETRY),
    ],
)
def test_dispositions(
    error: Exception, kind: type[PlatformError], disposition: Disposition
) -> None:
    found = translate(error)
    assert (type(found), found.disposition) == (kind, disposition)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (4004, CredentialsError, "DISCORD_BOT_TOKEN"),
        (4014, CredentialsError, "Message Content Intent"),
        (4013, CredentialsError, "4013"),
        (4000, PlatformError, "4000"),
        (1000, PlatformError, "1000"),
    ],
)
def test_closings_say_what_to_do(code: int, kind: type[PlatformError], words: str) -> None:
    socket: Any = SimpleNamespace(close_code=code)
    error = translate(discord.ConnectionClosed(socket, shard_id=None, code=code))
    assert type(error) is kind
    assert words in str(error)


@pytest.mark.parametrize(
    ("error", "wait", "everywhere"),
    [
        (discord.RateLimited(30.0), 30.0, False),
        (refusal(429, headers={"Retry-After": "12.5"}), 12.5, True),
        (refusal(429), 5.0, True),
        (refusal(429, headers={"Retry-After": "soon"}), 5.0, True),
    ],
)
def test_how_long_to_wait(error: Exception, wait: float, *, everywhere: bool) -> None:
    """H-34."""
    limited = translate(error, sending=True)
    assert isinstance(limited, RateLimitedError)
    assert (limited.retry_after, limited.whole_account) == (wait, everywhere)


@pytest.mark.parametrize(
    "error",
    [
        aiohttp.ServerDisconnectedError(),
        aiohttp.ClientOSError(),
        TimeoutError(),
        refusal(502, kind=discord.DiscordServerError),
        KeyError("id"),
        RuntimeError("Session is closed"),
    ],
)
def test_a_send_that_may_have_arrived_is_ambiguous(error: Exception) -> None:
    assert type(translate(error, sending=True)) is AmbiguousSendError


def test_a_send_that_never_left_may_be_repeated() -> None:
    key: Any = SimpleNamespace(ssl=None, host="h", port=1, is_ssl=False)
    refused = aiohttp.ClientConnectorError(key, OSError(111, "refused"))
    error = translate(refused, sending=True)
    assert (type(error), error.disposition) == (PlatformError, RETRY)


def test_no_secret_and_no_page_is_quoted() -> None:
    token = make_token("812345678901234567", "GaBcDe.invented_Token-For_Tests_0123456789")
    assert token not in str(translate(refusal(400, 50035, f"token {token} is odd")))
    page: Any = SimpleNamespace(status=403, reason="", headers={})
    assert "<html>" not in str(translate(discord.Forbidden(page, "<html>Cloudflare</html>")))


def test_the_cause_is_kept() -> None:
    with pytest.raises(PlatformError) as caught, translated():
        raise TimeoutError
    assert isinstance(caught.value.__cause__, TimeoutError)
