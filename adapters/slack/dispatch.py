"""Where every payload arrives: Bolt checks it, its team's inlet stores it, then it is answered."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.buttons import PRESSES
from adapters.slack.client import quiet_libraries

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from adapters.slack.inlet import Inlet
    from gateway.model.ids import AccountId

log: structlog.stdlib.BoundLogger = structlog.get_logger()

_OK = 200
#: Slack delivers again
_LATER = 503


class Dispatcher:
    """One app's Bolt, shared by its teams.

    The intake runs in global middleware before Bolt would look anybody up, so nothing slow
    precedes it, and a payload is answered with 200 only when it is durable.
    """

    def __init__(self, signing_secret: str) -> None:
        quiet_libraries()
        self._inlets: dict[str, Inlet] = {}
        self._expected: set[AccountId] = set()
        logger = logging.getLogger("slack_bolt.quiet")
        logger.setLevel(logging.ERROR)
        self._app = AsyncApp(
            name="hermes-gateway",
            logger=logger,
            signing_secret=signing_secret,
            before_authorize=self._take_in,
            authorize=_nobody,
        )

    @contextmanager
    def expecting(self, account: AccountId) -> Iterator[None]:
        """Meanwhile events of unknown teams may be this account's: they are asked for again."""
        self._expected.add(account)
        try:
            yield
        finally:
            self._expected.discard(account)

    @contextmanager
    def attached(self, inlet: Inlet) -> Iterator[None]:
        """Meanwhile ``inlet`` gets its team's events."""
        me = inlet.view.me
        keys = [key for key in (me.team, me.enterprise) if key and key not in self._inlets]
        self._inlets |= dict.fromkeys(keys, inlet)
        self._expected.discard(me.account)
        try:
            yield
        finally:
            for key in keys:
                del self._inlets[key]

    async def from_socket(self, payload: object) -> bool:
        """Take in a payload of an envelope; True when it may be acknowledged."""
        try:
            body = payload if isinstance(payload, dict) else {}
            request = AsyncBoltRequest(mode="socket_mode", body=body)
        except (AttributeError, KeyError, TypeError, ValueError):
            # Bolt trips over what is shaped oddly; the inlet puts such things aside.
            return (await self._route(payload)).status == _OK
        return (await self._app.async_dispatch(request)).status == _OK

    async def from_http(self, request: AsyncBoltRequest) -> BoltResponse:
        """Take in a posted request: 401 unless Slack signed it lately."""
        stamp = request.headers.get("x-slack-request-timestamp", [""])[0]
        if not stamp.isdecimal():
            return BoltResponse(status=401, body="")
        return await self._app.async_dispatch(request)

    async def _take_in(
        self,
        body: dict[str, Any],
        next: Callable[[], Awaitable[BoltResponse]],
    ) -> BoltResponse:
        """Global middleware; ``next`` is Bolt's name for going on."""
        if body.get("type") in ("url_verification", "ssl_check"):
            return await next()
        return await self._route(body)

    async def _route(self, payload: object) -> BoltResponse:
        body = payload if isinstance(payload, dict) else {}
        slash = isinstance(body.get("command"), str)
        if not slash and body.get("type") not in ("event_callback", PRESSES, None):
            log.debug("slack.not_for_us", action="receive")
            return BoltResponse(status=_OK, body="")
        inlet = self._inlet(body)
        if inlet is None:
            return self._unknown_team()
        stored = await inlet.put(payload, slash=slash)
        return BoltResponse(status=_OK if stored else _LATER, body="")

    def _inlet(self, body: Mapping[str, Any]) -> Inlet | None:
        """Return the inlet of a payload's team; what names no team is set aside by the first."""
        teams = teams_of(body) or list(self._inlets)
        return next(filter(None, map(self._inlets.get, teams)), None)

    def _unknown_team(self) -> BoltResponse:
        if self._expected or not self._inlets:
            return BoltResponse(status=_LATER, body="")
        log.warning("slack.unknown_team", action="receive")
        return BoltResponse(status=_OK, body="")


def teams_of(body: Mapping[str, Any]) -> list[str]:
    """Return the teams and organisations through which a payload may have come, best first.

    In a channel shared with another company ``team_id`` may be theirs.
    """
    listed = body.get("authorizations")
    holders = (
        [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    keys = [each.get(key) for each in holders for key in ("team_id", "enterprise_id")]
    keys += [body.get("context_team_id"), body.get("team_id"), body.get("enterprise_id")]
    pressed_in, organisation = body.get("team"), body.get("enterprise")
    keys += [each.get("id") for each in (pressed_in, organisation) if isinstance(each, dict)]
    return [key for key in keys if isinstance(key, str)]


async def _nobody() -> AuthorizeResult:
    """Bolt's ``authorize``, which must be given; nothing that needs it gets that far."""
    return AuthorizeResult(enterprise_id=None, team_id=None)
