"""Changes of the identity keys as values: what a change makes of the rules, and what undoes it.

The keys are those of honcho.json that decide who is who: ``pinUserPeer``, ``peerName``,
``runtimePeerPrefix`` and each entry of ``userPeerAliases``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gateway.policy import naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gateway.policy.identity import IdentityRules

#: where a key stands: ``("peerName",)``, ``("userPeerAliases", "telegram:7654321")``
Path = tuple[str, ...]
Value = str | bool

ALIASES = "userPeerAliases"
PIN: Path = ("pinUserPeer",)
PEER_NAME: Path = ("peerName",)
PREFIX: Path = ("runtimePeerPrefix",)


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of some keys; None takes a key away, and what is not named stays."""

    values: Mapping[Path, Value | None] = field(default_factory=dict)

    @classmethod
    def of_aliases(cls, targets: Mapping[str, str | None]) -> Change:
        """Return the change that gives accounts to people; None removes an entry."""
        return cls({(ALIASES, key): target for key, target in targets.items()})

    def __or__(self, other: Change) -> Change:
        """Return both as one; ``other`` wins."""
        return Change({**self.values, **other.values})


@dataclass(frozen=True, slots=True)
class Edit:
    """One key that is another than before; None: it was not there, or is not any more."""

    path: Path
    before: Value | None
    after: Value | None

    @property
    def key(self) -> str:
        """The key as it is written of: ``userPeerAliases["telegram:42"]``."""
        head, *rest = self.path
        return head + "".join(f'["{name}"]' for name in rest)


def keys(rules: IdentityRules) -> dict[Path, Value]:
    """Return the identity keys that say something, by where they stand."""
    found: dict[Path, Value] = {(ALIASES, key): name for key, name in rules.aliases.items()}
    if rules.pin:
        found[PIN] = True
    texts: dict[Path, Value] = {PEER_NAME: rules.peer_name, PREFIX: rules.prefix}
    return found | {path: value for path, value in texts.items() if value}


def revision(found: Mapping[Path, Value]) -> str:
    """Return what tells one set of keys from another, whatever their order."""
    return naming.digest(dump(found))[:16]


def dump(found: Mapping[Path, Value]) -> str:
    """Return keys as text for ``load``."""
    return json.dumps(sorted([list(path), value] for path, value in found.items()))


def load(text: str) -> dict[Path, Value]:
    """Return the keys that ``dump`` wrote down."""
    return {tuple(path): value for path, value in json.loads(text)}


def changed(rules: IdentityRules, change: Change) -> IdentityRules:
    """Return the rules after a change."""
    found: dict[Path, Any] = {**keys(rules), **change.values}
    found = {path: value for path, value in found.items() if value not in (None, "", False)}
    return replace(
        rules,
        pin=bool(found.get(PIN, False)),
        peer_name=str(found.get(PEER_NAME, "")),
        prefix=str(found.get(PREFIX, "")),
        aliases={path[1]: name for path, name in found.items() if path[0] == ALIASES},
    )


def differences(before: Mapping[Path, Value], after: Mapping[Path, Value]) -> tuple[Edit, ...]:
    """Return each key that is another in ``after``."""
    return tuple(
        Edit(path, before.get(path), after.get(path))
        for path in dict.fromkeys((*before, *after))
        if before.get(path) != after.get(path)
    )


def inverse(edits: Iterable[Edit]) -> Change:
    """Return the change that takes edits back."""
    return Change({edit.path: edit.before for edit in edits})


def overtaken(edits: Iterable[Edit], present: Mapping[Path, Value]) -> tuple[Edit, ...]:
    """Return the edits whose key was changed again since: taking them back would undo that too."""
    return tuple(edit for edit in edits if present.get(edit.path) != edit.after)
