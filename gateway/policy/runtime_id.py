"""A platform's id of an account, and the forms in which an operator may write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.events import SenderKind

if TYPE_CHECKING:
    from gateway.model.events import Sender
    from gateway.model.ids import PlatformName, ScopeId, UserId


@dataclass(frozen=True, slots=True)
class RuntimeId:
    """One account. Equal ids on two platforms, or in two Slack teams, are two accounts."""

    platform: PlatformName
    id: UserId
    scope: ScopeId | None = None

    @property
    def qualified(self) -> str:
        """``telegram:700100200``, ``slack:T0…:U0…``: the key of links, and unambiguous."""
        return ":".join(filter(None, (self.platform, self.scope, self.id)))

    @property
    def forms(self) -> tuple[str, ...]:
        """All spellings that mean this account, the narrowest first.

        The last one, the bare id, matches on every platform and in every team.
        """
        if not self.scope:
            return (self.qualified, self.id)
        return (self.qualified, f"{self.scope}:{self.id}", f"{self.platform}:{self.id}", self.id)

    @property
    def platform_forms(self) -> tuple[str, ...]:
        """Those of ``forms`` that name the platform; the last one leaves the Slack team open."""
        return tuple(dict.fromkeys((self.qualified, f"{self.platform}:{self.id}")))


def runtime_ids(sender: Sender, platform: PlatformName) -> tuple[RuntimeId, ...]:
    """Return the sender's ids, the primary one first; () where there is no account.

    An empty id counts as none. The console's operator has no account whatever its id says.
    """
    if sender.kind is SenderKind.OPERATOR or not sender.id:
        return ()
    ids = (sender.id, *filter(None, sender.alternatives))
    return tuple(RuntimeId(platform, each, sender.scope) for each in ids)
