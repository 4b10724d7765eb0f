"""Where the command starts: before anything is imported that takes a while."""

from __future__ import annotations

import sys

#: what a shell gives a command that Ctrl-C ended
INTERRUPTED = 130


def main() -> None:
    """Run the command line; Ctrl-C ends it without a stack trace, also while it is loaded."""
    try:
        from gateway.cli import main as loaded

        loaded.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
