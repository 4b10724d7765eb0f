"""The Web API of one token, by slack-sdk; every failure is a PlatformError."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.drafts import FileAddress
from adapters.slack.errors import translated
from adapters.slack.people import Me, Profile
from gateway.model.ids import MessageId, PlaceId, ScopeId, ThreadId, UserId

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from adapters.slack.drafts import Draft
    from gateway.model.ids import AccountId


_TIMEOUT = aiohttp.ClientTimeout(total=20.0, connect=10.0)
_FILE_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10.0, sock_read=20.0)
_PAGE = 200
_KINDS = "public_channel,private_channel,mpim,im"

#: loggers that put addresses, arguments and answers into their records
TALKATIVE = ("slack_sdk", "slack_bolt", "aiohttp.access")


def quiet_libraries() -> None:
    """Keep the libraries' records below WARNING out of every log, whatever the root's level."""
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


class Client:
    """Calls of one token. Safe for concurrent use; ``aclose`` ends every connection.

    The library repeats nothing by itself: whether a send may be repeated is not its decision.
    """

    def __init__(self, token: str, base_url: str) -> None:
        quiet_libraries()
        self._token = token
        self._base_url = base_url
        self._web: AsyncWebClient | None = None
        self._session: aiohttp.ClientSession | None = None

    def _api(self) -> AsyncWebClient:
        """Connect lazily: a session belongs to the loop that is running."""
        if self._web is None:
            logger = logging.getLogger("slack_sdk.quiet")
            logger.setLevel(logging.WARNING)
            self._web = AsyncWebClient(
                self._token,
                self._base_url,
                session=self._open(),
                logger=logger,
                retry_handlers=[],
            )
        return self._web

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT)
        return self._session

    async def whoami(self, account: AccountId) -> Me:
        """Ask Slack whose token this is."""
        with translated():
            found = await self._api().auth_test()
            return Me(
                account,
                ScopeId(_required(found, "team_id")),
                UserId(_required(found, "user_id")),
                bot=found.get("bot_id") or "",
                enterprise=found.get("enterprise_id") or "",
            )

    async def open_socket(self) -> str:
        """Return the address of a new socket; it works once. For an app token."""
        with translated():
            found = await self._api().apps_connections_open(app_token=self._token)
            return _required(found, "url")

    # --- writing ---------------------------------------------------------------------------

    async def post(self, draft: Draft) -> MessageId:
        """Post a message, without link preview: fetching one tells a site of the answer.

        Raises ``AmbiguousSendError`` when Slack may have posted it.
        """
        with translated(sending=True):
            found = await self._api().chat_postMessage(
                channel=draft.place,
                text=draft.text,
                thread_ts=draft.thread,
                blocks=draft.blocks or None,
                metadata=draft.metadata,
                unfurl_links=False,
                unfurl_media=False,
                link_names=False,
            )
            return MessageId(_required(found, "ts"))

    async def upload(self, name: str, content: bytes) -> str:
        """Hand over what a file holds and return its id; nobody sees it before ``share``."""
        with translated():
            asked = await self._api().files_getUploadURLExternal(
                filename=name, length=len(content)
            )
            address, file = _required(asked, "upload_url"), _required(asked, "file_id")
            session = self._open()
            async with session.post(address, data=content, timeout=_FILE_TIMEOUT) as response:
                response.raise_for_status()
        return file

    async def share(self, draft: Draft, file: str) -> MessageId:
        """Post an uploaded file under the draft's text as its title.

        Raises ``AmbiguousSendError`` when Slack may have posted it. Slack may name the message
        later only; the file's own id stands for it then.
        """
        with translated(sending=True):
            found = await self._api().files_completeUploadExternal(
                files=[{"id": file, "title": draft.text}],
                channel_id=draft.place,
                thread_ts=draft.thread,
            )
            return _shared(found["files"][0], draft.place) or MessageId(file)

    async def update(self, draft: Draft, message: MessageId, *, finishing: bool = False) -> None:
        """Give one of our messages another text, other buttons and another key.

        May be repeated. ``finishing``: the message becomes an answer, so an unknown outcome
        raises ``AmbiguousSendError``: another process would post it anew.
        """
        with translated(sending=finishing):
            await self._api().chat_update(
                channel=draft.place,
                ts=message,
                text=draft.text,
                blocks=draft.blocks,
                metadata=draft.metadata,
            )

    async def delete(self, place: PlaceId, message: MessageId) -> None:
        """Delete one of our messages."""
        with translated():
            await self._api().chat_delete(channel=place, ts=message)

    async def show_status(self, place: PlaceId, thread: ThreadId, status: str) -> None:
        """Show in a thread what we are doing; "" for nothing."""
        with translated():
            await self._api().assistant_threads_setStatus(
                channel_id=place, thread_ts=thread, status=status
            )

    # --- reading ---------------------------------------------------------------------------

    async def profile(self, user: UserId) -> Profile:
        """Return what a person shows of themself."""
        with translated():
            found = (await self._api().users_info(user=user, include_locale=True))["user"]
            shown = found.get("profile", {})
            name = shown.get("display_name") or found.get("real_name") or found.get("name")
            return Profile(str(name or ""), str(found.get("locale") or "") or None)

    async def file(self, file: str) -> FileAddress:
        """Return where a file lies now."""
        with translated():
            found = (await self._api().files_info(file=file))["file"]
            address = found.get("url_private_download") or _required(found, "url_private")
            return FileAddress(address, str(found.get("mimetype") or ""), found.get("size"))

    @asynccontextmanager
    async def get(self, address: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open one of Slack's own addresses with the token, which no other host may see."""
        headers = {"Authorization": f"Bearer {self._token}"}
        session = self._open()
        async with session.get(address, headers=headers, timeout=_FILE_TIMEOUT) as response:
            yield response

    async def channels(self) -> list[PlaceId]:
        """Return every conversation that the app is in."""

        async def page(cursor: str) -> Any:
            return await self._api().users_conversations(
                types=_KINDS, exclude_archived=True, limit=_PAGE, cursor=cursor
            )

        return [PlaceId(each["id"]) async for each in _paged(page, "channels")]

    def history(self, place: PlaceId, oldest: str) -> AsyncIterator[dict[str, Any]]:
        """Yield what stands in a channel since ``oldest``, the newest first."""

        async def page(cursor: str) -> Any:
            return await self._api().conversations_history(
                channel=place,
                oldest=oldest,
                limit=_PAGE,
                cursor=cursor,
                include_all_metadata=True,
            )

        return _paged(page, "messages")

    def replies(
        self, place: PlaceId, thread: ThreadId, oldest: str
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield a thread since ``oldest`` and its root, the oldest first."""

        async def page(cursor: str) -> Any:
            return await self._api().conversations_replies(
                channel=place,
                ts=thread,
                oldest=oldest,
                limit=_PAGE,
                cursor=cursor,
                include_all_metadata=True,
            )

        return _paged(page, "messages")

    async def aclose(self) -> None:
        """Close all connections; nothing may be called afterwards."""
        if self._session is not None:
            await self._session.close()


def _required(found: Any, key: str) -> str:
    """Return a text of an answer; the library gives None where there is none."""
    value = found[key]
    if not isinstance(value, str) or not value:
        raise KeyError(key)
    return value


def _shared(file: dict[str, Any], place: PlaceId) -> MessageId | None:
    """Return the message by which a file stands in a channel, as far as Slack tells."""
    shares = file.get("shares") or {}
    posts = [*shares.get("public", {}).get(place, ()), *shares.get("private", {}).get(place, ())]
    return MessageId(posts[0]["ts"]) if posts else None


async def _paged(page: Callable[[str], Awaitable[Any]], key: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the items of all pages; a page that cannot be had raises ``PlatformError``."""
    cursor = ""
    while True:
        with translated():
            found = await page(cursor)
            items = list(found[key])
            cursor = (found.get("response_metadata") or {}).get("next_cursor") or ""
        for item in items:
            yield item
        if not cursor:
            return
