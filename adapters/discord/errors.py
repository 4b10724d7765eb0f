"""One table from discord.py's and aiohttp's exceptions to the gateway's.

Discord's own descriptions are quoted, cut short and with secrets masked; pages of proxies and
the texts of network errors are not.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import aiohttp
import discord
from discord.gateway import ReconnectWebSocket, WebSocketClosure

from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from gateway.policy.redact import redact
from gateway.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

try:
    from zstandard import ZstdError
except ImportError:  # discord.py without its extra [speed] asks for zlib
    _ZSTANDARD: tuple[type[Exception], ...] = ()
else:
    _ZSTANDARD = (ZstdError,)

#: codes of refusals that the sink answers by sending less, or not at all
REPLY, GONE, BUTTONS = "reply_not_found", "message_gone", "buttons"

_LONGEST_DETAIL = 200
#: seconds, where a 429 came without Discord's own number
_UNSTATED_WAIT = 5.0

_COPY_IT_AGAIN = (
    "Discord does not accept the token: copy it again from the page Bot of your application "
    "(https://discord.com/developers) into DISCORD_BOT_TOKEN"
)
_ALLOW_CONTENT = (
    "Discord denies the message content intent: switch on Message Content Intent on the page Bot "
    "of your application (https://discord.com/developers), then start the gateway again"
)
_BAD_TOKEN, _DENIED_INTENTS = 4004, 4014
#: closings after which the same connection can never work
_HOPELESS = frozenset({4010, 4011, 4012, 4013})

#: Discord's own codes
_CODES: dict[int, str] = {
    10003: "unreachable",  # unknown channel
    10008: GONE,
    10062: "too_late",  # unknown interaction
    40005: "too_large",
    50001: "unreachable",  # missing access
    50006: "empty",
    50007: "unreachable",  # takes no direct messages
    50013: "unreachable",  # missing permissions
    50083: "unreachable",  # archived thread
    160005: "unreachable",  # locked thread
}
_INVALID_FORM = 50035


def _refused(error: Exception) -> PlatformError:
    refusal = cast("discord.HTTPException", error)
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        return CredentialsError(_COPY_IT_AGAIN)
    if refusal.status == HTTPStatus.TOO_MANY_REQUESTS:
        return _banned(refusal)
    if refusal.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _outage(error)
    code = _code(refusal)
    if refusal.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        code = "too_large"
    kind = UnreachableError if code == "unreachable" else PlatformError
    return kind(f"Discord refused: {_described(refusal)}", code=code)


def _code(refusal: discord.HTTPException) -> str:
    if refusal.code == _INVALID_FORM:
        fields = refusal.text.lower()
        if "message_reference" in fields or "unknown message" in fields:
            return REPLY
        if "in components" in fields:
            return BUTTONS
        return "too_long" if "in content" in fields else "refused"
    forbidden = refusal.status == HTTPStatus.FORBIDDEN
    return _CODES.get(refusal.code, "unreachable" if forbidden else "refused")


def _described(refusal: discord.HTTPException) -> str:
    if not refusal.code:
        return f"status {refusal.status}"
    words = one_line(redact(refusal.text, ()), _LONGEST_DETAIL)
    return f"{words} (status {refusal.status}, code {refusal.code})"


def _banned(refusal: discord.HTTPException) -> PlatformError:
    """A 429 that Discord's own limiter did not make: the whole address must pause."""
    stated = refusal.response.headers.get("Retry-After", "")
    try:
        wait = float(stated)
    except ValueError:
        wait = _UNSTATED_WAIT
    return RateLimitedError(
        f"Discord asks this address to wait {wait:g} s", retry_after=wait, whole_account=True
    )


def _outage(error: Exception) -> PlatformError:
    status = cast("discord.HTTPException", error).status
    return _retry(f"Discord failed with status {status}", "network")


def _limited(error: Exception) -> PlatformError:
    wait = cast("discord.RateLimited", error).retry_after
    return RateLimitedError(f"Discord asks to wait {wait:g} s", retry_after=wait)


def _bad_token(_: Exception) -> PlatformError:
    return CredentialsError(_COPY_IT_AGAIN)


def _denied(_: Exception) -> PlatformError:
    return CredentialsError(_ALLOW_CONTENT)


def _closed(error: Exception) -> PlatformError:
    code = cast("discord.ConnectionClosed", error).code
    if code == _BAD_TOKEN:
        return CredentialsError(_COPY_IT_AGAIN)
    if code == _DENIED_INTENTS:
        return CredentialsError(_ALLOW_CONTENT)
    if code in _HOPELESS:
        return CredentialsError(f"Discord does not serve this bot to one connection (code {code})")
    return _retry(f"Discord closed the connection (code {code})", "network")


def _network(error: Exception) -> PlatformError:
    return _retry(f"the connection to Discord failed ({type(error).__name__})", "network")


def _lost(_: Exception) -> PlatformError:
    return _retry("the connection was lost; it is opened again", "network")


def _timed_out(error: Exception) -> PlatformError:
    return _retry(f"Discord did not answer in time ({type(error).__name__})", "timeout")


def _unreadable(error: Exception) -> PlatformError:
    return _retry(f"Discord's answer could not be read ({type(error).__name__})", "unreadable")


def _retry(detail: str, code: str) -> PlatformError:
    return PlatformError(detail, code=code, disposition=Disposition.RETRY)


def _defect(error: Exception) -> PlatformError:
    return PlatformError(f"{type(error).__name__} from the Discord library")


#: what each class becomes; the nearest class on the exception's own line of descent wins
TABLE: dict[type[Exception], Callable[[Exception], PlatformError]] = {
    discord.DiscordException: _unreadable,
    discord.ClientException: _defect,
    discord.ConnectionClosed: _closed,
    discord.DiscordServerError: _outage,
    discord.Forbidden: _refused,
    discord.GatewayNotFound: _network,
    discord.HTTPException: _refused,
    discord.InteractionResponded: _defect,
    discord.InvalidData: _unreadable,
    discord.LoginFailure: _bad_token,
    discord.MissingApplicationID: _defect,
    discord.NotFound: _refused,
    discord.PrivilegedIntentsRequired: _denied,
    discord.RateLimited: _limited,
    discord.errors.FFmpegProcessError: _defect,
    ReconnectWebSocket: _lost,
    WebSocketClosure: _lost,
    aiohttp.ClientError: _network,
    OSError: _network,
    TimeoutError: _timed_out,
    zlib.error: _unreadable,
    # The library met an answer without what it needs, or a session that is closed.
    AttributeError: _unreadable,
    KeyError: _unreadable,
    RuntimeError: _unreadable,
    TypeError: _unreadable,
    ValueError: _unreadable,
    **dict.fromkeys(_ZSTANDARD, _unreadable),
}

#: the request never reached Discord: sending again cannot double anything
NOT_HANDED_OVER = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    aiohttp.ServerFingerprintMismatch,
)

#: what the library raises when it cannot make sense of a frame
BROKEN: tuple[type[Exception], ...] = (
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    zlib.error,
    *_ZSTANDARD,
)

#: kinds of failure that leave open whether the work was done
_OPEN = frozenset({"timeout", "network", "unreadable"})


def translate(error: Exception, *, sending: bool = False) -> PlatformError:
    """Return the gateway's error for a library's one.

    ``sending``: the request would post something, so that a failure after it was handed over
    becomes ``AmbiguousSendError``.
    """
    translated = _row(error)(error)
    if sending and translated.code in _OPEN and not isinstance(error, NOT_HANDED_OVER):
        return AmbiguousSendError(f"{translated}; it may have been posted all the same")
    return translated


@contextmanager
def translated(*, sending: bool = False) -> Iterator[None]:
    """Turn every exception of the libraries inside the block into a ``PlatformError``."""
    try:
        yield
    except tuple(TABLE) as error:
        raise translate(error, sending=sending) from error


def _row(error: Exception) -> Callable[[Exception], PlatformError]:
    return next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
