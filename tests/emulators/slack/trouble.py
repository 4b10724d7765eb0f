"""Planning what goes wrong with calls of the Web API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulators.slack.errors import SlackError
from tests.emulators.slack.faults import Fault, FaultKind

if TYPE_CHECKING:
    from tests.emulators.slack.faults import Faults

_NGINX = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


class Trouble:
    """Half of the emulator's control API: each call plans faults for the next calls."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def fail(
        self,
        method: str,
        code: str,
        *,
        retry_after: int | None = None,
        times: int = 1,
        channel: str = "",
        **facts: Any,
    ) -> None:
        """Refuse the next calls of ``method``; with ``retry_after`` as a rate limit does."""
        error = SlackError(code, retry_after=retry_after, **facts)
        self._faults.plan(Fault(FaultKind.ERROR, method, times, channel, error))

    def rate_limit(
        self, method: str, retry_after: int, *, times: int = 1, channel: str = ""
    ) -> None:
        """Answer the next calls of ``method`` with 429."""
        self.fail(method, "ratelimited", retry_after=retry_after, times=times, channel=channel)

    def drop(self, method: str, times: int = 1) -> None:
        """Break the connection before the work."""
        self._faults.plan(Fault(FaultKind.DROP, method, times))

    def lose(self, method: str, times: int = 1) -> None:
        """Do the work, then break the connection: the lost answer."""
        self._faults.plan(Fault(FaultKind.LOSE, method, times))

    def truncate(self, method: str, times: int = 1) -> None:
        """Do the work, then answer 200 with half of the JSON."""
        self._faults.plan(Fault(FaultKind.TRUNCATED, method, times))

    def malformed(
        self, method: str, *, status: int = 200, body: str = _NGINX, times: int = 1
    ) -> None:
        """Answer with a page of HTML, or ``body``, instead of working."""
        fault = Fault(FaultKind.MALFORMED, method, times, status=status, body=body)
        self._faults.plan(fault)

    def slow(self, method: str, seconds: float, times: int = 1) -> None:
        """Start the work ``seconds`` late; it is done even if the client has gone."""
        self._faults.plan(Fault(FaultKind.SLOW, method, times, seconds=seconds))
