"""Gateways that start in moments: a parent that has imported everything forks one for each line.

``python -m tests.crash.nursery`` reads ``Orders`` as JSON lines and answers with process ids.
Its children are processes of their own, killed like any other; all of them die with it when
its standard input closes.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from typing import NoReturn

from tests.crash.driver import Orders, main

#: what a gateway imports late, at its start
LATE = (
    "alembic.command",
    "gateway.memory.embedded.serve",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.h11_impl",
)


def _child(orders: Orders) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open(f"{orders.home}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream, target in ((null, 0), (null, 1), (log, 2)):
        os.dup2(stream, target)
    try:
        main(orders)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _nurse() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the dead
    for module in LATE:
        importlib.import_module(module)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _child(Orders(**json.loads(line)))
        print(child, flush=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    _nurse()
