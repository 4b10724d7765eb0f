"""Which model answers: the first that fits, and why. Asks loopback servers, sends no key."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import httpx

from gateway.agent import local
from gateway.model.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gateway.agent.weights import Installed, WeightStore
    from gateway.settings.schema import ModelSettings


class Kind(StrEnum):
    """Where a model's answers come from."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    #: an OpenAI-compatible server that was found on loopback
    LOOPBACK = "loopback"
    #: installed weights in a child process
    LOCAL = "local"
    #: none: labelled set-up replies
    SETUP = "setup"


@dataclass(frozen=True, slots=True)
class Provider:
    """A hosted provider: its secret, its usual model and what its library is called."""

    kind: Kind
    secret: str
    default_model: str
    module: str


PROVIDERS = {
    provider.kind.value: provider
    for provider in (
        Provider(Kind.OPENAI, "OPENAI_API_KEY", "gpt-6-luna", "openai"),
        Provider(Kind.ANTHROPIC, "ANTHROPIC_API_KEY", "claude-sonnet-5-5", "anthropic"),
        Provider(Kind.GOOGLE, "GOOGLE_API_KEY", "gemini-3.8-flash", "google.genai"),
    )
}

#: servers that people run at home, by their usual port
LOOPBACK = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vLLM": "http://127.0.0.1:8000/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
}
_PROBE_TIMEOUT = 0.5


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that was chosen. Holds no secret."""

    kind: Kind
    #: "": the first model that the server lists
    name: str = ""
    base_url: str | None = None
    reason: str = ""
    #: what came before it in the order and did not fit, one line each
    passed_over: tuple[str, ...] = ()
    weights: Installed | None = None

    @property
    def answers(self) -> bool:
        """False where nothing but set-up replies can be given."""
        return self.kind is not Kind.SETUP

    @property
    def label(self) -> str:
        """``provider:name``, or that there is none."""
        if not self.answers:
            return "set-up replies"
        return f"{self.kind.value}:{self.name or 'first listed model'}"

    def describe(self) -> list[str]:
        """Say in lines what was chosen, why, and what was not."""
        where = f" at {self.base_url}" if self.base_url else ""
        return [
            f"{self.label}{where}: {self.reason}",
            *(f"not {line}" for line in self.passed_over),
        ]


async def choose(
    settings: ModelSettings,
    secrets: Mapping[str, str],
    store: WeightStore,
    *,
    loopback: Mapping[str, str] = LOOPBACK,
    local_library: Callable[[], bool] = local.available,
) -> Choice:
    """Choose the model by the settings, the keys and what is on this machine.

    Raises ``ConfigurationError`` for a provider that was asked for by name and cannot work.
    """
    if settings.provider in PROVIDERS:
        return configured(PROVIDERS[settings.provider], settings, secrets)
    passed: list[str] = []
    if settings.provider == "auto":
        if settings.base_url is not None:
            return configured(PROVIDERS[Kind.OPENAI], settings, secrets)
        found = _keyed(settings, secrets, passed) or await _on_loopback(settings, loopback, passed)
        if found is not None:
            return found
    return _installed(settings, store, local_library, passed) or Choice(
        Kind.SETUP, reason="no model was found", passed_over=tuple(passed)
    )


def fallbacks(
    primary: Choice, settings: ModelSettings, secrets: Mapping[str, str]
) -> list[Choice]:
    """Return the choices of ``model.fallback``; a bare name is a model of the same provider.

    Raises ``ConfigurationError``.
    """
    if settings.fallback and primary.kind in (Kind.LOCAL, Kind.SETUP):
        raise ConfigurationError(
            f"model.fallback stands in for a hosted model or a server, but the model is "
            f"{primary.kind.value}: remove model.fallback, or choose another model.provider"
        )
    return [_fallback(entry, primary, settings, secrets) for entry in settings.fallback]


def _fallback(
    entry: str, primary: Choice, settings: ModelSettings, secrets: Mapping[str, str]
) -> Choice:
    prefix, _, name = entry.partition(":")
    if name and prefix == primary.kind.value:
        entry = name
    elif name and prefix in PROVIDERS:
        other = settings.model_copy(update={"name": name, "base_url": None})
        return configured(PROVIDERS[prefix], other, secrets)
    return replace(primary, name=entry, reason="model.fallback")


def configured(provider: Provider, settings: ModelSettings, secrets: Mapping[str, str]) -> Choice:
    """Return the choice of a provider that the operator named. Raises ``ConfigurationError``."""
    has_key = bool(secrets.get(provider.secret))
    if not has_key and not (provider.kind is Kind.OPENAI and settings.base_url):
        raise ConfigurationError(
            f"model.provider is {provider.kind.value} but {provider.secret} is not set: put it "
            "into .env, or choose another model.provider"
        )
    if not _importable(provider.module):
        raise ConfigurationError(
            f"model.provider is {provider.kind.value} but its library is missing: "
            f'run `pip install "hermes-gateway[{provider.kind.value}]"`'
        )
    custom = settings.base_url is not None
    return Choice(
        provider.kind,
        name=settings.name or ("" if custom else provider.default_model),
        base_url=settings.base_url,
        reason="model.base_url is set" if custom else f"{provider.secret} is set",
    )


def _keyed(
    settings: ModelSettings, secrets: Mapping[str, str], passed: list[str]
) -> Choice | None:
    for provider in PROVIDERS.values():
        if not secrets.get(provider.secret):
            passed.append(f"{provider.kind.value}: {provider.secret} is not set")
        elif not _importable(provider.module):
            extra = f"hermes-gateway[{provider.kind.value}]"
            passed.append(
                f"{provider.kind.value}: {provider.secret} is set but its library is missing: "
                f'run `pip install "{extra}"`'
            )
        else:
            return configured(provider, settings, secrets)
    return None


async def _on_loopback(
    settings: ModelSettings, servers: Mapping[str, str], passed: list[str]
) -> Choice | None:
    async with httpx.AsyncClient(trust_env=False, timeout=_PROBE_TIMEOUT) as client:
        listed = await asyncio.gather(*(list_models(client, url) for url in servers.values()))
    for (server, url), models in zip(servers.items(), listed, strict=True):
        if models is None:
            passed.append(f"{server}: no answer at {url}")
        elif settings.name is not None and settings.name not in models:
            passed.append(f"{server}: {url} has no model {settings.name}")
        elif name := settings.name or first_for_chat(models):
            return Choice(
                Kind.LOOPBACK,
                name=name,
                base_url=url,
                reason=f"{server} answers on this machine",
                passed_over=tuple(passed),
            )
        else:
            passed.append(f"{server}: {url} has no model loaded")
    return None


async def list_models(client: httpx.AsyncClient, base_url: str) -> list[str] | None:
    """Return the names that an OpenAI-compatible server lists; None where none answers."""
    try:
        response = await client.get(f"{base_url.rstrip('/')}/models")
        response.raise_for_status()
        return list(_names(response.json()))
    except (httpx.HTTPError, ValueError):
        return None


def _names(body: object) -> Iterator[str]:
    match body:
        case {"data": list(entries)}:
            for entry in entries:
                match entry:
                    case {"id": str(name)}:
                        yield name
        case _:
            raise ValueError("no list of models")


def first_for_chat(models: list[str]) -> str | None:
    """Return the first model that is not made for embeddings."""
    return next((name for name in models if "embed" not in name.lower()), None)


def _installed(
    settings: ModelSettings,
    store: WeightStore,
    local_library: Callable[[], bool],
    passed: list[str],
) -> Choice | None:
    named = settings.name if settings.provider == "local" else None
    weights = store.selected(named)
    if weights is None and named is not None:
        there = ", ".join(one.name for one in store.installed()) or "none"
        raise ConfigurationError(
            f"model.name: no installed weights are called {named} (installed: {there}): run "
            f"`hermes-gateway model install {named}`"
        )
    if weights is None:
        passed.append("local: no weights are installed: run `hermes-gateway model install`")
        return None
    if not local_library():
        passed.append(
            f"local: {weights.name} is installed but the library is missing: "
            'run `pip install "hermes-gateway[local]"`'
        )
        return None
    return Choice(
        Kind.LOCAL,
        name=weights.name,
        reason=f"weights are installed in {store.folder}",
        passed_over=tuple(passed),
        weights=weights,
    )


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
