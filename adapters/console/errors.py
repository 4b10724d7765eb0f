"""Why a console could not show an answer."""

from __future__ import annotations

from gateway.model.errors import Disposition, PlatformError


class ConsoleClosedError(PlatformError):
    """The console that asked has closed."""

    code = "console_closed"


class NoConsoleError(PlatformError):
    """No console is open; the answer waits for one. Open it with: hermes-gateway chat"""

    code = "no_console"
    disposition = Disposition.RETRY


class NoFilesError(PlatformError):
    """A console takes no files."""

    code = "gone"
