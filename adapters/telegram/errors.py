"""One table from python-telegram-bot's and httpx's exceptions to the gateway's.

Descriptions of the Bot API are quoted, with tokens masked; the text of a network error is not,
because the library puts whole answers and arguments into it.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import httpx
from telegram import error as telegram_error

from gateway.model.errors import (
    AmbiguousSendError,
    ConflictError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)
from gateway.model.ids import PlaceId
from gateway.policy.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: the library's own switch: waits are timedeltas, without a deprecation warning for each
os.environ.setdefault("PTB_TIMEDELTA", "true")

#: codes of refusals that the sink answers by sending less
ENTITIES, REPLY, THREAD = "entities", "reply_not_found", "thread_not_found"
BUTTONS = "buttons"
PHOTO = "no_photo"

_STATUS = re.compile(r"\(([1-5]\d\d)\)")
_LONGEST_DETAIL = 200

#: seconds, where a 429 came without Telegram's own number
_UNSTATED_WAIT = 5.0


class ChatMovedError(PlatformError):
    """The group has become a supergroup with another id."""

    code = "chat_moved"
    disposition = Disposition.RETRY

    def __init__(self, place: PlaceId) -> None:
        super().__init__(f"the group is now {place}")
        self.place = place


#: first match wins; Telegram's wording, which python-telegram-bot has changed the case of
_REFUSALS: tuple[tuple[str, str], ...] = (
    ("message to be replied not found", REPLY),
    ("replied message not found", REPLY),
    ("message thread not found", THREAD),
    ("topic_deleted", THREAD),
    ("topic_closed", THREAD),  # the rest of the group is open
    ("can't parse entities", ENTITIES),
    ("can't parse message text", ENTITIES),
    ("entity_", ENTITIES),
    ("entities_", ENTITIES),
    ("entity url", ENTITIES),
    ("button_", BUTTONS),
    ("reply markup", BUTTONS),
    ("reply_markup", BUTTONS),
    ("inline keyboard", BUTTONS),
    ("rights to send documents", "forbidden"),
    ("rights to send photos", "forbidden"),
    ("chat_send_", "forbidden"),
    ("photo_", PHOTO),
    ("image_process_failed", PHOTO),
    ("too big for a photo", PHOTO),
    ("chat not found", "unreachable"),
    ("user not found", "unreachable"),
    ("peer_id_invalid", "unreachable"),
    ("group chat was", "unreachable"),
    ("chat_write_forbidden", "unreachable"),
    ("chat_restricted", "unreachable"),
    ("chat_admin_required", "unreachable"),
    ("not enough rights", "unreachable"),
    ("have no rights", "unreachable"),
    ("need administrator rights", "unreachable"),
    ("is too long", "too_long"),
    ("file is too big", "too_large"),
    ("wrong file", "gone"),
    ("temporarily unavailable", "gone"),
    ("text is empty", "empty"),
    ("text must be non-empty", "empty"),
)


def _described(error: Exception) -> str:
    return redact(str(error), ())[:_LONGEST_DETAIL]


def _refused(error: Exception) -> PlatformError:
    description = str(error).lower()
    code = next((code for part, code in _REFUSALS if part in description), "refused")
    if code == ENTITIES:  # the description quotes the message
        return PlatformError("Telegram refused the formatting", code=code)
    kind = UnreachableError if code == "unreachable" else PlatformError
    return kind(f"Telegram refused: {_described(error)}", code=code)


def _forbidden(error: Exception) -> PlatformError:
    return UnreachableError(f"Telegram forbids it: {_described(error)}")


def _bad_token(_: Exception) -> PlatformError:
    return CredentialsError(
        "Telegram does not accept the token: copy it again from @BotFather into "
        "TELEGRAM_BOT_TOKEN (and check platforms.telegram.base_url if you changed it)"
    )


def _moved(error: Exception) -> PlatformError:
    return ChatMovedError(PlaceId(str(cast("telegram_error.ChatMigrated", error).new_chat_id)))


def _flooded(error: Exception) -> PlatformError:
    wait = cast("telegram_error.RetryAfter", error).retry_after
    return _wait(float(wait) if isinstance(wait, int) else wait.total_seconds())


def _wait(seconds: float) -> PlatformError:
    return RateLimitedError(f"Telegram asks to wait {seconds:g} s", retry_after=seconds)


def _conflict(_: Exception) -> PlatformError:
    return ConflictError(
        "another program receives this bot's messages: stop it, or give one of the two a token "
        "of its own"
    )


def _timed_out(error: Exception) -> PlatformError:
    return PlatformError(
        f"Telegram did not answer in time ({_cause(error)})",
        code="timeout",
        disposition=Disposition.RETRY,
    )


def _network(error: Exception) -> PlatformError:
    status = _status(error)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return _wait(_UNSTATED_WAIT)
    too_large = str(error)[:_LONGEST_DETAIL].lower().startswith("request entity too large")
    if too_large or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return PlatformError("Telegram takes no file as large as that", code="too_large")
    if status is not None and 400 <= status < 500:
        return PlatformError(f"Telegram refused with status {status}", code="refused")
    return PlatformError(
        f"the connection to Telegram failed ({status or _cause(error)})",
        code="network",
        disposition=Disposition.RETRY,
    )


def _unreadable(error: Exception) -> PlatformError:
    return PlatformError(
        f"Telegram's answer could not be read ({_cause(error)})",
        code="unreadable",
        disposition=Disposition.RETRY,
    )


def _defect(error: Exception) -> PlatformError:
    return PlatformError(f"{type(error).__name__} from the Telegram library")


#: what each class becomes; the nearest class on the exception's own line of descent wins
TABLE: dict[type[Exception], Callable[[Exception], PlatformError]] = {
    telegram_error.TelegramError: _unreadable,
    telegram_error.BadRequest: _refused,
    telegram_error.ChatMigrated: _moved,
    telegram_error.Conflict: _conflict,
    telegram_error.EndPointNotFound: _bad_token,
    telegram_error.Forbidden: _forbidden,
    telegram_error.InvalidToken: _bad_token,
    telegram_error.NetworkError: _network,
    telegram_error.PassportDecryptionError: _defect,
    telegram_error.RetryAfter: _flooded,
    telegram_error.TimedOut: _timed_out,
    httpx.HTTPError: _network,
    httpx.TimeoutException: _timed_out,
    # The library met a well-formed answer without what its classes need.
    AttributeError: _unreadable,
    KeyError: _unreadable,
    TypeError: _unreadable,
    ValueError: _unreadable,
}

#: the request never reached Telegram: sending again cannot double anything
NOT_HANDED_OVER = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)

#: kinds of failure that leave open whether the work was done
_OPEN = frozenset({"timeout", "network", "unreadable"})


def translate(error: Exception, *, sending: bool = False) -> PlatformError:
    """Return the gateway's error for a library's one.

    ``sending``: the request would post something, so that a failure after it was handed over
    becomes ``AmbiguousSendError``: Telegram knows no key by which a repetition could be dropped.
    """
    translated = _row(error)(error)
    if sending and translated.code in _OPEN and not _certainly_lost(error):
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


def _certainly_lost(error: Exception) -> bool:
    return isinstance(error, NOT_HANDED_OVER) or isinstance(error.__cause__, NOT_HANDED_OVER)


def _cause(error: Exception) -> str:
    return type(error.__cause__ or error).__name__


def _status(error: Exception) -> int | None:
    """Return the HTTP status, which the library leaves in its text only."""
    match = _STATUS.search(str(error)[:_LONGEST_DETAIL])
    return int(match[1]) if match else None
