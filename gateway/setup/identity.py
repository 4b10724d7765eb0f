"""Who talks to this gateway, and what the answer means for the identity keys. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.settings.splice import REMOVE
from gateway.setup.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gateway.policy.runtime_id import RuntimeId

PIN, ALIASES, PREFIX, NAME = "pinUserPeer", "userPeerAliases", "runtimePeerPrefix", "peerName"
#: what is offered where several platforms are in use
OFFERED_PREFIX = "{platform}_"
_AUDIENCE = ("conversations", "audience")


class Who(StrEnum):
    """The answers to "who talks to this gateway?"."""

    JUST_ME = "just-me"
    ME_AND_OTHERS = "me-and-others"
    ONLY_OTHERS = "only-others"
    KEEP = "keep"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Keys:
    """The identity keys as they hold now, and who may hear what in a shared place."""

    pin: bool
    peer_name: str
    aliases: Mapping[str, str]
    prefix: str
    audience: str

    def is_mine(self, account: RuntimeId) -> bool:
        """Tell whether an alias makes an account the owner's."""
        return bool(self.peer_name) and self._target(account) == self.peer_name

    def mine(self, accounts: Iterable[RuntimeId]) -> list[RuntimeId]:
        """Return those accounts that an alias makes the owner's."""
        return [account for account in accounts if self.is_mine(account)]

    def _target(self, account: RuntimeId) -> str | None:
        forms = (form for form in account.forms if form in self.aliases)
        return next((self.aliases[form] for form in forms), None)


def just_me(now: Keys) -> Draft:
    """Everybody who is admitted is the owner, who may hear everything everywhere."""
    draft = Draft()
    if not now.pin:
        draft.honcho[PIN,] = True
    if now.audience != "open":
        draft.config[_AUDIENCE] = "open"
    return draft


def me_and_others(now: Keys, mine: Iterable[RuntimeId]) -> Draft:
    """Nobody is pinned; the owner's accounts are aliased to ``peerName``."""
    return _apart(now, {}, mine)


def only_others(now: Keys, prefix: str, mine: Iterable[RuntimeId] = ()) -> Draft:
    """Nobody is pinned; what is made from an id may begin with ``prefix``.

    ``mine``: accounts that stay the owner's after a pin is taken away.
    """
    return _apart(now, {PREFIX: prefix} if prefix != now.prefix else {}, mine)


def _apart(now: Keys, more: Mapping[str, str], mine: Iterable[RuntimeId]) -> Draft:
    draft = Draft()
    if now.pin:
        draft.honcho[PIN,] = False
    if now.audience != "strict":
        draft.config[_AUDIENCE] = "strict"
    for account in mine:
        if not now.is_mine(account):
            draft.honcho[ALIASES, account.qualified] = now.peer_name
    draft.honcho |= {(key,): value for key, value in more.items()}
    return draft


def edited(now: Keys, *, pin: bool, aliases: Mapping[str, str], prefix: str) -> Draft:
    """Set the three keys to exactly this."""
    draft = Draft()
    if pin != now.pin:
        draft.honcho[PIN,] = pin
    if prefix != now.prefix:
        draft.honcho[PREFIX,] = prefix
    for key, target in aliases.items():
        if now.aliases.get(key) != target:
            draft.honcho[ALIASES, key] = target
    for key in now.aliases.keys() - aliases.keys():
        draft.honcho[ALIASES, key] = REMOVE
    return draft
