"""One table from slack-sdk's and aiohttp's exceptions to the gateway's.

Slack's codes are quoted; its other words are not, because the library puts whole answers and
arguments into them.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import aiohttp
from slack_sdk import errors as slack_errors

from gateway.model.errors import (
    AmbiguousSendError,
    CredentialsError,
    Disposition,
    PlatformError,
    RateLimitedError,
    UnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: codes of refusals that the sink answers by sending less, or anew
THREAD, GONE, BLOCKS = "thread_not_found", "message_gone", "blocks"

#: seconds, where a 429 came without Slack's own number
_UNSTATED_WAIT = 5.0

_CREDENTIALS = frozenset(
    {
        *("invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"),
        *("not_allowed_token_type", "org_login_required", "enterprise_is_restricted"),
    }
)
_UNREACHABLE = frozenset(
    {
        *("channel_not_found", "not_in_channel", "is_archived", "user_not_found"),
        *("user_disabled", "cannot_dm_bot", "messages_tab_disabled", "restricted_action"),
        *("restricted_action_read_only_channel", "restricted_action_thread_only_channel"),
        *("team_access_not_granted", "access_denied", "ekm_access_denied", "no_permission"),
    }
)
_CODES = {
    "thread_not_found": THREAD,
    "cannot_reply_to_message": THREAD,
    "invalid_thread_ts": THREAD,
    # one thread is closed, or all of them: the channel is not
    "restricted_action_thread_locked": THREAD,
    "restricted_action_non_threadable_channel": THREAD,
    "message_not_found": GONE,
    "cant_update_message": GONE,
    "edit_window_closed": GONE,
    "invalid_blocks": BLOCKS,
    "invalid_blocks_format": BLOCKS,
    "msg_too_long": "too_long",
    "msg_blocks_too_long": BLOCKS,
    "no_text": "empty",
    "file_not_found": "gone",
    "file_deleted": "gone",
    "file_uploads_disabled": "forbidden",
    "file_uploads_except_images_disabled": "forbidden",
    "posting_to_channel_denied": "forbidden",
    "posting_to_general_channel_denied": "forbidden",
    "storage_limit_reached": "too_large",
    "file_upload_size_restricted": "too_large",
}
#: Slack broke off: in part it may have done the work all the same
_BROKEN_OFF = frozenset({"internal_error", "fatal_error", "request_timeout", "team_added_to_org"})
_LATER = frozenset({"service_unavailable", "external_channel_migrating"})


def refused(code: str) -> PlatformError:
    """Return the error for a code of the Web API."""
    if code in _CREDENTIALS:
        return CredentialsError(
            f"Slack does not accept the token ({code}): copy it again from the app's settings "
            "into SLACK_BOT_TOKEN or SLACK_APP_TOKEN"
        )
    if code in _UNREACHABLE:
        return UnreachableError(f"Slack forbids it: {code}")
    if code in _BROKEN_OFF:
        return _retry(f"Slack broke off: {code}", "network")
    if code in _LATER:
        return _retry(f"Slack cannot do it now: {code}", "busy")
    if code == "missing_scope":
        return PlatformError(
            "Slack refused: the app lacks a scope; add it on the app's page OAuth & Permissions "
            "and install the app again",
            code=code,
        )
    return PlatformError(f"Slack refused: {code}", code=_CODES.get(code, "refused"))


def _retry(detail: str, code: str) -> PlatformError:
    return PlatformError(detail, code=code, disposition=Disposition.RETRY)


def _answered(error: Exception) -> PlatformError:
    """Judge an answer: by its status, then by its code, else it is no answer of Slack's."""
    response = cast("slack_errors.SlackApiError", error).response
    data = getattr(response, "data", None)
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0))
    code = data.get("error") if isinstance(data, dict) else None
    if status == HTTPStatus.TOO_MANY_REQUESTS or code == "ratelimited":
        return _flooded(response)
    if isinstance(code, str) and code:
        return refused(code)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _retry(f"Slack failed with status {status}", "network")
    return _unreadable(error)


def _flooded(response: object) -> PlatformError:
    headers = getattr(response, "headers", {})
    stated = str(headers.get("Retry-After", ""))
    seconds = float(stated) if stated.isdecimal() else _UNSTATED_WAIT
    return RateLimitedError(f"Slack asks to wait {seconds:g} s", retry_after=seconds)


def _timed_out(_: Exception) -> PlatformError:
    return _retry("Slack did not answer in time", "timeout")


def _network(error: Exception) -> PlatformError:
    return _retry(f"the connection to Slack failed ({type(error).__name__})", "network")


def _unreadable(error: Exception) -> PlatformError:
    return _retry(f"Slack's answer could not be read ({type(error).__name__})", "unreadable")


def _defect(error: Exception) -> PlatformError:
    return PlatformError(f"{type(error).__name__} from the Slack library")


def _address(_: Exception) -> PlatformError:
    return PlatformError("platforms.slack.base_url is no address: correct it", code="address")


#: what each class becomes; the nearest class on the exception's own line of descent wins
TABLE: dict[type[Exception], Callable[[Exception], PlatformError]] = {
    slack_errors.SlackClientError: _defect,
    slack_errors.BotUserAccessError: _defect,
    slack_errors.SlackApiError: _answered,
    slack_errors.SlackClientConfigurationError: _defect,
    slack_errors.SlackClientNotConnectedError: _network,
    slack_errors.SlackObjectFormationError: _defect,
    slack_errors.SlackRequestError: _defect,
    slack_errors.SlackTokenRotationError: _defect,
    aiohttp.ClientError: _network,
    aiohttp.InvalidURL: _address,
    asyncio.TimeoutError: _timed_out,
    OSError: _network,
    # The library met an answer without what it needs.
    AttributeError: _unreadable,
    KeyError: _unreadable,
    TypeError: _unreadable,
    ValueError: _unreadable,
}

#: the request never reached Slack: sending again cannot double anything
NOT_HANDED_OVER = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
)

#: kinds of failure that leave open whether the work was done
_OPEN = frozenset({"timeout", "network", "unreadable"})


def translate(error: Exception, *, sending: bool = False) -> PlatformError:
    """Return the gateway's error for a library's one.

    ``sending``: the request would post something. A failure after it was handed over becomes
    ``AmbiguousSendError``, and an inactive account is the addressee's: the token was checked.
    """
    translated = _row(error)(error)
    if not sending:
        return translated
    if translated.code in _OPEN and not isinstance(error, NOT_HANDED_OVER):
        return AmbiguousSendError(f"{translated}; it may have been posted all the same")
    if isinstance(translated, CredentialsError) and "account_inactive" in str(translated):
        return UnreachableError("Slack forbids it: account_inactive")
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
