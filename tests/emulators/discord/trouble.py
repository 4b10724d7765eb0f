"""Planning what goes wrong with requests and with the gateway's sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulators.discord.errors import ApiError, rate_limited
from tests.emulators.discord.faults import Fault, FaultKind

if TYPE_CHECKING:
    from tests.emulators.discord.faults import Buckets, Faults
    from tests.emulators.discord.gateway import Gateway


class Trouble:
    """Half of the emulator's control API: each call plans faults, or breaks sockets now.

    Routes have the names of ``rest.ROUTES`` (``send``, ``edit``, ``history`` …) and ``ws``.
    """

    def __init__(self, faults: Faults, buckets: Buckets, gateway: Gateway) -> None:
        self._faults = faults
        self._buckets = buckets
        self._gateway = gateway

    # --- requests ---

    def fail(
        self,
        route: str,
        status: int,
        *,
        code: int = 0,
        message: str = "",
        times: int = 1,
        channel: str | None = None,
    ) -> None:
        """Refuse the next requests of ``route``; for ``ws`` the connection itself."""
        error = ApiError(status, code, message or f"{status}: refused")
        self._faults.plan(Fault(FaultKind.ERROR, route, times, channel, error, status=status))

    def limit(
        self,
        route: str,
        retry_after: float,
        *,
        scope: str = "user",
        times: int = 1,
        channel: str | None = None,
        via: bool = True,
    ) -> None:
        """Answer 429; without ``via`` as Cloudflare does when it bans an address."""
        error = rate_limited(retry_after, scope)
        self._faults.plan(Fault(FaultKind.ERROR, route, times, channel, error, via=via))

    def page(self, route: str, *, status: int = 502, times: int = 1) -> None:
        """Answer with a page of HTML instead of working."""
        self._faults.plan(Fault(FaultKind.PAGE, route, times, status=status))

    def drop(self, route: str, times: int = 1) -> None:
        """Break the connection before the work."""
        self._faults.plan(Fault(FaultKind.DROP, route, times))

    def lose(self, route: str, times: int = 1) -> None:
        """Do the work, then break the connection: the lost answer."""
        self._faults.plan(Fault(FaultKind.LOSE, route, times))

    def slow(self, route: str, seconds: float, times: int = 1) -> None:
        """Start the work ``seconds`` late; it is done even if the client has gone."""
        self._faults.plan(Fault(FaultKind.SLOW, route, times, seconds=seconds))

    def bucket(self, route: str, limit: int, seconds: float) -> None:
        """Let ``limit`` requests through in ``seconds`` for each channel."""
        self._buckets.rules[route] = (limit, seconds)

    # --- sockets ---

    def cut(self, code: int | None = None) -> None:
        """Close every socket with ``code``, or break the connections (None); sessions live on."""
        self._gateway.cut(code)

    def kill_sessions(self) -> None:
        """Break the connections and forget the sessions: the next RESUME is refused."""
        self._gateway.forget()
        self._gateway.cut(None)

    def reconnect(self) -> None:
        """Ask every client to reconnect (op 7)."""
        self._gateway.operate(7, None)

    def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every client that its session is invalid (op 9)."""
        if not resumable:
            self._gateway.forget()
        self._gateway.operate(9, resumable)

    def mute(self, *, muted: bool = True) -> None:
        """Stop acknowledging heartbeats: the connection looks dead to its client."""
        self._gateway.muted = muted

    def frame(self, text: str) -> None:
        """Send a frame of exactly this text, however odd, without sequence number."""
        self._gateway.frame(text)
