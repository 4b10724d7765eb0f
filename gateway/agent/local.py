"""The model that needs no key: a child process with its own memory, started when first needed.

A crash of native code or an out-of-memory kill must not take the gateway along, so the model
runs in ``gateway.agent.child``; a child that died is started again at the next use.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import secrets
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

import httpx
import structlog

from gateway.agent.child import KEY_VARIABLE
from gateway.model.errors import AgentError, Disposition

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from gateway.agent.weights import Installed

log = structlog.get_logger(__name__)

_START_TIMEOUT = 60.0
_HEALTH_TIMEOUT = 2.0
#: a model that died this often within this many seconds is not started again
_CRASHES, _CRASH_WINDOW = 3, 120.0
#: seconds in which a child whose input was closed must be gone
_GRACE = 2.0


def available() -> bool:
    """Tell whether the library for local models is installed."""
    return importlib.util.find_spec("xllamacpp") is not None


class LocalServer:
    """One local model behind an OpenAI-compatible address on loopback."""

    def __init__(self, weights: Installed, *, command: tuple[str, ...] = ()) -> None:
        """``command`` replaces the child, for tests; it gets the model's path and name."""
        self.weights = weights
        #: the child's key; nobody else on this machine may use the model
        self.key = secrets.token_urlsafe(24)
        self._command = command or (sys.executable, "-m", "gateway.agent.child")
        self._process: Process | None = None
        self._address = ""
        self._lock = asyncio.Lock()
        self._crashes: deque[float] = deque(maxlen=_CRASHES)

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._process.pid if self._alive() and self._process else None

    async def address(self) -> str:
        """Return ``http://127.0.0.1:PORT``, starting the child if it does not run.

        Raises ``AgentError``: ``GIVE_UP`` when it cannot work.
        """
        async with self._lock:
            if not self._alive() or not await self._healthy():
                await self._replace()
            return self._address

    async def aclose(self) -> None:
        """End the child."""
        async with self._lock:
            await self._end()

    def _alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _healthy(self) -> bool:
        async with httpx.AsyncClient(trust_env=False, timeout=_HEALTH_TIMEOUT) as client:
            try:
                response = await client.get(f"{self._address}/health")
            except httpx.TimeoutException:
                return True  # busy with somebody's long prompt
            except httpx.HTTPError:
                return False
        return response.status_code != httpx.codes.INTERNAL_SERVER_ERROR

    async def _replace(self) -> None:
        if self._process is not None:
            log.warning(
                "model.crashed",
                action="model",
                model=self.weights.name,
                code=self._process.returncode,
            )
            self._crashes.append(time.monotonic())
            await self._end()
        full = len(self._crashes) == _CRASHES
        if full and time.monotonic() - self._crashes[0] < _CRASH_WINDOW:
            raise self._failure("it crashes again and again", Disposition.RETRY)
        await self._start()

    async def _start(self) -> None:
        began = time.monotonic()
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            str(self.weights.path),
            self.weights.name,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, KEY_VARIABLE: self.key},
        )
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                self._address = await self._read_address(self._process)
        except TimeoutError:
            await self._end()
            raise self._failure(f"not ready after {_START_TIMEOUT:g} s") from None
        except BaseException:
            await self._end()
            raise
        seconds = round(time.monotonic() - began, 1)
        log.info("model.started", action="model", model=self.weights.name, seconds=seconds)

    async def _read_address(self, process: Process) -> str:
        while process.stdout is not None and (line := await process.stdout.readline()):
            if line.startswith(b"http://127.0.0.1:"):
                return line.decode().strip()
        code = await process.wait()
        raise self._failure(
            f"its process ended with code {code} while it loaded. Install the library with "
            '`pip install "hermes-gateway[local]"`, or other weights with '
            "`hermes-gateway model install`"
        )

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def _failure(self, reason: str, disposition: Disposition = Disposition.GIVE_UP) -> AgentError:
        return AgentError(
            f"the local model {self.weights.name} cannot be used: {reason}",
            code="local_model",
            disposition=disposition,
            user_text="failed.unavailable",
        )
