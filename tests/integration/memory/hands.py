"""Processes that write into a memory file until they are stopped, each in its own way.

Run as ``python -m tests.integration.memory.hands KIND PATH NAME``: it prints each entry once
that is written.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from gateway.memory.files import update

#: seconds between two entries: a lock that is taken again at once starves the others
PACE = 0.002


def write(path: Path, entry: str) -> None:
    """Add an entry as the gateway does."""
    update(path, lambda entries: (*entries, entry))


def edit(path: Path, entry: str) -> None:
    """Append an entry as a shell does, without a lock."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"\n§\n{entry}\n".encode())
    os.close(handle)


KINDS = {"write": write, "edit": edit}


def main(kind: str, path: Path, name: str) -> None:
    """Write entries until killed, or until standard output is closed."""
    number = 0
    while True:
        entry = f"{name}-{number}"
        KINDS[kind](path, entry)
        print(entry, flush=True)
        number += 1
        time.sleep(PACE)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
