"""Which settings differ between two readings: their names, never their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.settings.read import Loaded

#: mappings whose keys name people or hold secrets: they count as one setting each
_WHOLE = frozenset({"userPeerAliases", "sessions"})


def changed(before: Loaded, after: Loaded) -> list[str]:
    """Return the dotted names of all settings that are not the same, sorted.

    Entries of honcho.json stand under ``honcho.``, secrets of .env by their name under ``env.``.
    """
    old, new = _flat(before), _flat(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _flat(loaded: Loaded) -> dict[str, Any]:
    return {
        **dict(_leaves("", loaded.settings)),
        **dict(_leaves("honcho", loaded.honcho)),
        **{f"env.{name}": value for name, value in loaded.secrets.items()},
    }


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    last = name.rpartition(".")[2]
    if isinstance(value, BaseModel):
        for field, info in type(value).model_fields.items():
            yield from _leaves(_join(name, info.alias or field), getattr(value, field))
    elif isinstance(value, dict) and last not in _WHOLE:
        yield from _entries(name, value)
    else:
        yield name, value


def _entries(name: str, value: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, each in value.items():
        yield from _leaves(_join(name, str(key)), each)


def _join(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
