"""Model objects of the library, made from a ``Choice`` when they are first needed.

Importing this module loads the model library (about a second); a provider's own library is
loaded only when one of its models is opened.
"""

from __future__ import annotations

import asyncio
import importlib
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from gateway.agent.choice import PROVIDERS, Kind, first_for_chat, list_models
from gateway.agent.errors import OUTAGES
from gateway.model.errors import AgentError, Disposition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai.models import Model

    from gateway.agent.choice import Choice
    from gateway.agent.local import LocalServer

OPENAI_URL = "https://api.openai.com/v1"
#: retries of the provider's library inside one request; those of a whole turn are the mailbox's
_RETRIES = 1
_NO_KEY = "none"
_LIST_TIMEOUT = 5.0
_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})

#: chat templates of self-hosted models take one system message, at the start
STRICT = OpenAIModelProfile(
    openai_chat_supports_multiple_system_messages=False,
    openai_chat_supports_max_completion_tokens=False,
    supports_inline_system_prompts=False,
    supports_json_schema_output=True,
    # a form is asked for by its schema, and in words for servers that do not know schemas
    default_structured_output_mode="native",
    native_output_requires_schema_in_instructions=True,
)


class _LocalProvider(OpenAIProvider):
    @property
    def name(self) -> str:
        return "local"


class HostedModels:
    """A ``ModelSource`` of one model and those that stand in for it in an outage."""

    def __init__(self, choices: Sequence[Choice], secrets: Mapping[str, str]) -> None:
        self._choices = choices
        self._secrets = secrets
        self._model: Model | None = None
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()

    async def open(self) -> Model:
        """See ``ModelSource``."""
        async with self._lock:
            if self._model is None:
                models = [await self._make(choice) for choice in self._choices]
                first, *others = models
                self._model = (
                    FallbackModel(first, *others, fallback_on=OUTAGES) if others else first
                )
            return self._model

    async def aclose(self) -> None:
        """See ``ModelSource``."""
        async with self._lock:
            self._model = None
            await self._stack.aclose()

    async def _make(self, choice: Choice) -> Model:
        if choice.kind in (Kind.OPENAI, Kind.LOOPBACK):
            return await self._openai(choice)
        library = choice.kind.value
        models = importlib.import_module(f"pydantic_ai.models.{library}")
        providers = importlib.import_module(f"pydantic_ai.providers.{library}")
        provider = getattr(providers, f"{library.title()}Provider")(
            api_key=self._secrets[PROVIDERS[library].secret], base_url=choice.base_url
        )
        model: Model = getattr(models, f"{library.title()}Model")(choice.name, provider=provider)
        return await self._stack.enter_async_context(model)

    async def _openai(self, choice: Choice) -> Model:
        base_url = choice.base_url or OPENAI_URL
        key = self._secrets.get("OPENAI_API_KEY") if choice.kind is Kind.OPENAI else None
        name = choice.name or await _first_listed(base_url, key)
        client = await self._stack.enter_async_context(_client(base_url, key or _NO_KEY))
        return OpenAIChatModel(
            name,
            provider=OpenAIProvider(openai_client=client),
            profile=None if base_url == OPENAI_URL else STRICT,
        )


class LocalModel:
    """A ``ModelSource`` of a local model; a child that was replaced gets a new client."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._stack = AsyncExitStack()
        self._address = ""
        self._model: Model | None = None

    async def open(self) -> Model:
        """See ``ModelSource``."""
        address = await self._server.address()
        if self._model is None or address != self._address:
            await self._stack.aclose()
            client = _client(f"{address}/v1", self._server.key)
            await self._stack.enter_async_context(client)
            self._address = address
            self._model = OpenAIChatModel(
                self._server.weights.name,
                provider=_LocalProvider(openai_client=client),
                profile=STRICT,
            )
        return self._model

    async def aclose(self) -> None:
        """See ``ModelSource``."""
        await self._stack.aclose()
        await self._server.aclose()


def _client(base_url: str, key: str) -> AsyncOpenAI:
    timeout = httpx2.Timeout(600.0, connect=5.0)
    return AsyncOpenAI(
        base_url=base_url,
        api_key=key,
        max_retries=_RETRIES,
        # a proxy of the environment is for the internet: it must not see what stays here
        http_client=httpx2.AsyncClient(
            timeout=timeout, trust_env=urlsplit(base_url).hostname not in _LOOPBACK_HOSTS
        ),
    )


async def _first_listed(base_url: str, key: str | None) -> str:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    trust_env = urlsplit(base_url).hostname not in _LOOPBACK_HOSTS
    async with httpx.AsyncClient(
        headers=headers, timeout=_LIST_TIMEOUT, trust_env=trust_env
    ) as client:
        names = await list_models(client, base_url)
    if name := first_for_chat(names or []):
        return name
    raise AgentError(
        f"{base_url} lists no model: start one there, or set model.name",
        code="model_not_found",
        disposition=Disposition.RETRY,
        user_text="failed.unavailable",
    )
