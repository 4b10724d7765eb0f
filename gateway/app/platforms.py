"""The platforms this product knows, and the adapters of those that are switched on."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from adapters.console.manifest import MANIFEST as CONSOLE
from adapters.discord.manifest import MANIFEST as DISCORD
from adapters.slack.manifest import MANIFEST as SLACK
from adapters.telegram.manifest import MANIFEST as TELEGRAM
from gateway.model.errors import ConfigurationError
from gateway.text import catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.model.capabilities import Capabilities
    from gateway.model.ids import PlatformName
    from gateway.ports import Adapter, Clock, Manifest
    from gateway.settings.read import Loaded

#: every platform this product knows; an adapter's library is imported only when it is enabled
MANIFESTS: tuple[Manifest, ...] = (CONSOLE, TELEGRAM, DISCORD, SLACK)


def capabilities() -> dict[PlatformName, Capabilities]:
    """Return what every known platform can do."""
    return {manifest.name: manifest.capabilities for manifest in MANIFESTS}


def enabled(manifest: Manifest, loaded: Loaded) -> bool:
    """Tell whether a platform is switched on: ``auto`` means that its secret is set."""
    switch = getattr(loaded.settings.platforms.get(manifest.name), "enabled", False)
    if switch == "auto":
        return bool(manifest.secrets) and manifest.secrets[0] in loaded.secrets
    return bool(switch)


def connected(loaded: Loaded) -> list[str]:
    """Return the platforms with people that are switched on."""
    return [one.name for one in MANIFESTS if one.capabilities.has_users and enabled(one, loaded)]


def platform_problems(loaded: Loaded) -> list[str]:
    """Return what keeps an enabled platform from starting, [] when all can."""
    return [
        problem
        for manifest in MANIFESTS
        if enabled(manifest, loaded)
        for problem in manifest.check(loaded.settings.platforms[manifest.name], loaded.secrets)
    ]


def make_adapters(
    loaded: Loaded,
    clock: Clock,
    *,
    menu: Sequence[str],
    console: Mapping[str, Any] | None,
    others: bool,
) -> list[Adapter]:
    """Build the adapters of every platform that is switched on.

    ``console``: what its factory gets beside settings and clock, None for no console;
    ``others`` False leaves all but the console out. Raises ``ConfigurationError`` naming each
    platform that cannot start as it is set up.
    """
    if problems := platform_problems(loaded):
        raise ConfigurationError(*problems)
    adapters: list[Adapter] = []
    for manifest in MANIFESTS:
        extra = console if manifest is CONSOLE else {"commands": _described(menu, loaded)}
        wanted = manifest is CONSOLE or others
        if extra is None or not wanted or not enabled(manifest, loaded):
            continue
        settings = loaded.settings.platforms[manifest.name]
        module, _, function = manifest.factory.partition(":")
        create: Callable[..., list[Adapter]] = getattr(importlib.import_module(module), function)
        adapters += create(settings, loaded.secrets, clock=clock, **extra)
    return adapters


def _described(names: Sequence[str], loaded: Loaded) -> list[tuple[str, str]]:
    """Return the commands of a platform's menu with a line for each."""
    language = loaded.settings.language
    spoken = catalog.DEFAULT_LANGUAGE if language == "auto" else language
    return [(name, catalog.text(f"cmd.{name}", spoken)) for name in names]
