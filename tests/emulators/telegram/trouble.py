"""Planning what goes wrong with calls of the Bot API."""

from __future__ import annotations

from tests.emulators.telegram.errors import ApiError, bad_request, flood_wait
from tests.emulators.telegram.faults import Fault, FaultKind, Faults, Flood

_NGINX = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


class Trouble:
    """Half of the emulator's control API: each call plans faults for the next calls."""

    def __init__(self, faults: Faults, flood: Flood) -> None:
        self._faults = faults
        self._flood = flood

    def fail(
        self,
        method: str,
        code: int,
        description: str = "",
        *,
        retry_after: int | None = None,
        times: int = 1,
        chat: int | None = None,
    ) -> None:
        """Refuse the next calls of ``method``; 400 and 429 word themselves as Telegram does."""
        error = ApiError(code, description)
        if code == 400:
            error = bad_request(description.removeprefix("Bad Request: "))
        elif retry_after is not None:
            error = flood_wait(retry_after)
        self._faults.plan(Fault(FaultKind.ERROR, method, times, chat, error))

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

    def flood(self, per_chat: float = 1.0) -> None:
        """Let one send or edit through per chat in ``per_chat`` seconds; 0 lifts the limit."""
        self._flood.per_chat = per_chat
