"""The state of an adapter's connection: kept for ``status`` and logged when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from gateway.ports import AdapterStatus, ConnectionState

if TYPE_CHECKING:
    from gateway.model.ids import PlatformName
    from gateway.ports import Clock

log: structlog.stdlib.BoundLogger = structlog.get_logger()

_CALM = (ConnectionState.STARTING, ConnectionState.CONNECTED, ConnectionState.STOPPED)


class Connection:
    """One connection's ``status``, as ``gateway.ports.Adapter`` wants it."""

    def __init__(self, platform: PlatformName, clock: Clock, **context: str) -> None:
        """``context``: what each log line says besides the state, such as the account."""
        self._platform = platform
        self._clock = clock
        self._context = context
        self.status = AdapterStatus(ConnectionState.STARTING)

    def report(self, state: ConnectionState, detail: str = "") -> None:
        """Take note of a state; ``detail`` (no secret) may change within it without a log line."""
        if (state, detail) == (self.status.state, self.status.detail):
            return
        same = state is self.status.state
        since = self.status.since if same else self._clock.now()
        self.status = AdapterStatus(state, detail, since)
        if not same:
            write = log.info if state in _CALM else log.warning
            write(f"{self._platform}.{state}", action="connect", detail=detail, **self._context)
