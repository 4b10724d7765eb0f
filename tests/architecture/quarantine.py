"""Foreign libraries stay where the design puts them; decisions are pure."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.architecture.sources import Import, imports, within

if TYPE_CHECKING:
    from tests.architecture.sources import Module

_AGENT = ("gateway.agent",)
_HTTP = ("gateway.memory.embedded", "gateway.web")
_SQL = ("gateway.store", "gateway.mailbox", "gateway.memory.embedded", "migrations")

#: library → the packages that may import it
QUARANTINE = {
    "telegram": ("adapters.telegram",),
    "discord": ("adapters.discord",),
    "slack_bolt": ("adapters.slack",),
    "slack_sdk": ("adapters.slack",),
    "aiohttp": ("adapters.discord", "adapters.slack", "adapters.telegram"),
    "zstandard": ("adapters.discord",),
    "yarl": ("adapters.discord",),
    "honcho": ("gateway.memory.honcho",),
    "sqlalchemy": _SQL,
    "sqlite3": _SQL,
    "psycopg": _SQL,
    "alembic": ("gateway.store", "migrations"),
    "procrastinate": ("gateway.mailbox.postgres",),
    "pydantic_ai": _AGENT,
    "openai": _AGENT,
    "anthropic": _AGENT,
    "google": _AGENT,
    "xllamacpp": _AGENT,
    "httpx": ("gateway.agent", "gateway.memory", "adapters.telegram"),
    "httpx2": _AGENT,
    "fastapi": _HTTP,
    "starlette": _HTTP,
    "uvicorn": _HTTP,
    "markdown_it": ("gateway.text",),
    "ruamel": ("gateway.settings",),
    "watchfiles": ("gateway.settings",),
    "questionary": ("gateway.cli.menus",),
    "prompt_toolkit": ("adapters.console", "gateway.cli"),
    "rich": ("adapters.console", "gateway.cli"),
    "typer": ("gateway.cli",),
}

#: what pure packages may import besides the standard library and packages below them
PURE = {"gateway.model": (), "gateway.policy": (), "gateway.text": ("markdown_it", "regex")}
#: parts of the standard library that do or see something outside the values handed in
IMPURE = (
    *("asyncio", "http", "io", "logging", "os", "pathlib.Path", "random", "shutil", "signal"),
    *("socket", "sqlite3", "subprocess", "tempfile", "threading", "urllib.request"),
)
#: makes ids, which takes a clock and chance
_CLOCKS = ("time", "secrets")


def quarantine_faults(found: list[Module]) -> list[str]:
    """Return one line for each foreign library that is imported outside its quarantine."""
    return [
        f"{each.where}: {library} may be imported in {', '.join(homes)} only"
        for each in imports(found)
        for library, homes in QUARANTINE.items()
        if within(each.target, library)
        and not any(within(each.source.name, home) for home in homes)
    ]


def purity_faults(found: list[Module]) -> list[str]:
    """Return one line for each import by which a pure package could see the world outside."""
    return [
        f"{each.where}: {package} is pure and may not import {each.target}"
        for each in imports(found)
        for package, allowed in PURE.items()
        if within(each.source.name, package) and not _pure(each, allowed)
    ]


def _meet(name: str, other: str) -> bool:
    return within(name, other) or within(other, name)


def _pure(each: Import, allowed: tuple[str, ...]) -> bool:
    top = each.target.split(".")[0]
    if top == "gateway" or top in allowed:
        return True
    impure = IMPURE if within(each.source.name, "gateway.model") else IMPURE + _CLOCKS
    return top in sys.stdlib_module_names and not any(_meet(each.target, bad) for bad in impure)
