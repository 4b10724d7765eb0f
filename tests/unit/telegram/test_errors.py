"""One table of errors: complete, most specific first, told apart by Telegram's words."""

from __future__ import annotations

import datetime as dtm
import inspect

import httpx
import pytest
from telegram import error as telegram_error

from adapters.telegram import errors
from adapters.telegram.errors import ENTITIES, REPLY, THREAD, ChatMovedError, translate
from gateway.model.errors import (
    AmbiguousSendError,
    ConflictError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)

TOKEN = "111222333:AAinventedTokenForTests_0123456789abcd"
RETRY, GIVE_UP = Disposition.RETRY, Disposition.GIVE_UP

LIBRARY = {
    kind
    for _, kind in inspect.getmembers(telegram_error, inspect.isclass)
    if issubclass(kind, Exception)
}
TRANSPORT = {
    kind
    for _, kind in inspect.getmembers(httpx, inspect.isclass)
    if issubclass(kind, httpx.HTTPError)
}
#: a request that failed like this may have been read to its end
HANDED_OVER = {
    *(httpx.HTTPError, httpx.RequestError, httpx.TransportError, httpx.TimeoutException),
    *(httpx.NetworkError, httpx.ProtocolError, httpx.ReadError, httpx.WriteError),
    *(httpx.CloseError, httpx.ReadTimeout, httpx.WriteTimeout, httpx.RemoteProtocolError),
    *(httpx.LocalProtocolError, httpx.DecodingError, httpx.TooManyRedirects),
    httpx.HTTPStatusError,
}


def test_every_class_of_the_library_has_its_own_row() -> None:
    missing = LIBRARY - errors.TABLE.keys()
    assert missing == set(), f"add a row to adapters.telegram.errors.TABLE for {missing}"


def test_every_class_of_the_transport_is_judged() -> None:
    judged = HANDED_OVER | set(errors.NOT_HANDED_OVER)
    assert judged >= TRANSPORT, f"may a send be repeated after {TRANSPORT - judged}?"


def refused(description: str) -> PlatformError:
    return translate(telegram_error.BadRequest(f"Bad Request: {description}"))


@pytest.mark.parametrize(
    ("description", "kind", "code"),
    [
        ("message to be replied not found", PlatformError, REPLY),
        ("MESSAGE TO BE REPLIED NOT FOUND", PlatformError, REPLY),
        ("message thread not found", PlatformError, THREAD),
        ("TOPIC_DELETED", PlatformError, THREAD),
        ("can't parse entities: Can't find end of the entity", PlatformError, ENTITIES),
        ("entity URL 'http://x' is invalid: Wrong HTTP URL", PlatformError, ENTITIES),
        ("ENTITY_BOUNDS_INVALID", PlatformError, ENTITIES),
        ("chat not found", UnreachableError, "unreachable"),
        ("group chat was upgraded to a supergroup chat", UnreachableError, "unreachable"),
        ("not enough rights to send text messages to the chat", UnreachableError, "unreachable"),
        ("CHAT_WRITE_FORBIDDEN", UnreachableError, "unreachable"),
        ("message is too long", PlatformError, "too_long"),
        ("message text is empty", PlatformError, "empty"),
        ("something new", PlatformError, "refused"),
    ],
)
def test_refusals_are_told_apart(description: str, kind: type[PlatformError], code: str) -> None:
    error = refused(description)
    assert (type(error), error.code, error.disposition) == (kind, code, GIVE_UP)


@pytest.mark.parametrize(
    ("error", "kind", "disposition"),
    [
        (telegram_error.Forbidden("bot was blocked by the user"), UnreachableError, GIVE_UP),
        (telegram_error.InvalidToken(), CredentialsError, GIVE_UP),
        (telegram_error.EndPointNotFound("x"), CredentialsError, GIVE_UP),
        (telegram_error.Conflict("terminated by other"), ConflictError, RETRY),
        (telegram_error.ChatMigrated(-100), ChatMovedError, RETRY),
        (telegram_error.NetworkError("Bad Gateway"), PlatformError, RETRY),
        (telegram_error.NetworkError("Request Entity Too Large (413)"), PlatformError, GIVE_UP),
        (telegram_error.NetworkError("Too Many Requests (429)"), RateLimitedError, RETRY),
        (telegram_error.TimedOut(), PlatformError, RETRY),
        (telegram_error.TelegramError("Invalid server response"), PlatformError, RETRY),
        (telegram_error.PassportDecryptionError("x"), PlatformError, GIVE_UP),
        (KeyError("result"), PlatformError, RETRY),
        (httpx.ReadError("x"), PlatformError, RETRY),
        (httpx.PoolTimeout("x"), PlatformError, RETRY),
    ],
)
def test_dispositions(
    error: Exception, kind: type[PlatformError], disposition: Disposition
) -> None:
    translated = translate(error)
    assert (type(translated), translated.disposition) == (kind, disposition)


def test_where_the_group_went() -> None:
    moved = translate(telegram_error.ChatMigrated(-1005550004444), sending=True)
    assert isinstance(moved, ChatMovedError)
    assert moved.place == "-1005550004444"


@pytest.mark.parametrize("wait", [30, dtm.timedelta(seconds=30)])
def test_how_long_to_wait(wait: int | dtm.timedelta) -> None:
    """H-34."""
    limited = translate(telegram_error.RetryAfter(wait), sending=True)
    assert isinstance(limited, RateLimitedError)
    assert (limited.retry_after, limited.whole_account) == (30.0, False)


def caused(error: telegram_error.TelegramError, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("kind", errors.NOT_HANDED_OVER)
def test_a_send_that_never_left_may_be_repeated(kind: type[Exception]) -> None:
    timed_out = issubclass(kind, httpx.TimeoutException)
    error = telegram_error.TimedOut() if timed_out else telegram_error.NetworkError("x")
    translated = translate(caused(error, kind("x")), sending=True)
    assert (type(translated), translated.disposition) == (PlatformError, RETRY)


@pytest.mark.parametrize(
    "error",
    [
        *(caused(telegram_error.NetworkError("x"), kind("x")) for kind in
          (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)),
        *(caused(telegram_error.TimedOut(), kind("x")) for kind in
          (httpx.ReadTimeout, httpx.WriteTimeout)),
        telegram_error.NetworkError("Bad Gateway"),
        telegram_error.NetworkError("Bad Gateway (502)"),
        telegram_error.TelegramError("Invalid server response"),
        KeyError("result"),
        TypeError("Message.__init__() missing 1 required argument"),
    ],
)  # fmt: skip
def test_a_send_that_may_have_arrived_is_ambiguous(error: Exception) -> None:
    translated = translate(error, sending=True)
    assert isinstance(translated, AmbiguousSendError)
    assert translated.disposition is Disposition.AMBIGUOUS


@pytest.mark.parametrize(
    "error",
    [
        telegram_error.BadRequest("Bad Request: message is too long"),
        telegram_error.Forbidden("bot was kicked"),
        telegram_error.InvalidToken(),
        telegram_error.RetryAfter(3),
        telegram_error.ChatMigrated(-100),
        telegram_error.NetworkError("Request Entity Too Large (413)"),
    ],
)
def test_a_refusal_is_never_ambiguous(error: Exception) -> None:
    assert translate(error, sending=True).disposition is not Disposition.AMBIGUOUS


@pytest.mark.parametrize(
    "error",
    [
        telegram_error.InvalidToken(f"The token `{TOKEN}` was rejected by the server."),
        telegram_error.BadRequest(f"Bad Request: wrong address /bot{TOKEN}/sendMessage"),
        telegram_error.Forbidden(f"Forbidden: {TOKEN}"),
        telegram_error.BadRequest("Bad Request: can't parse entities: unsupported tag 'words'"),
        telegram_error.NetworkError(f"Unknown error in HTTP implementation: '{TOKEN} words'"),
        telegram_error.NetworkError(f"x. Parsing the server response b'{TOKEN} words' failed"),
        telegram_error.TelegramError(f"{TOKEN} words"),
        KeyError(TOKEN),
    ],
)
@pytest.mark.parametrize("sending", [True, False])
def test_no_token_and_no_words_reach_a_message(error: Exception, sending: bool) -> None:
    """H-42."""
    told = str(translate(error, sending=sending))
    assert TOKEN.partition(":")[2] not in told
    assert "words" not in told


def test_the_context_chains_the_cause() -> None:
    cause = telegram_error.Forbidden("bot was blocked by the user")
    with pytest.raises(UnreachableError) as caught, errors.translated():
        raise cause
    assert caught.value.__cause__ is cause


def test_defects_of_ours_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), errors.translated():
        raise ZeroDivisionError
