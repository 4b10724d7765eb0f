"""The name of an account that no rule names: a pure function of platform, scope and id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.policy import parts

if TYPE_CHECKING:
    from gateway.model.ids import ScopeId
    from gateway.policy.runtime_id import RuntimeId

_TELEGRAM = re.compile(r"[0-9]{1,16}")
_DISCORD = re.compile(r"[0-9]{17,}")
#: a letter is required, so that no Slack id is mistaken for the digits of another platform
_SLACK = re.compile(r"(?=[0-9]*[A-Z])[A-Z0-9]+")


def generated_name(account: RuntimeId, bare_team: ScopeId | None) -> str:
    """Return the account's name, not yet cleaned; different accounts have different names.

    Telegram and Discord ids and Slack ids of ``bare_team`` stand bare, everything else behind
    its platform (and team), so equal digits on two platforms never meet.
    """
    if _stands_bare(account, bare_team):
        return account.id
    scope = () if account.scope is None else (account.scope,)
    return parts.join((account.platform, *scope, account.id), "_")


def prefixed_name(prefix: str, account: RuntimeId, bare_team: ScopeId | None) -> str:
    """Return the generated name behind ``prefix``; ``{platform}`` in it is the platform's name."""
    return prefix.replace("{platform}", account.platform) + generated_name(account, bare_team)


def _stands_bare(account: RuntimeId, bare_team: ScopeId | None) -> bool:
    match account.platform:
        case "telegram":
            return _TELEGRAM.fullmatch(account.id) is not None
        case "discord":
            return _DISCORD.fullmatch(account.id) is not None
        case "slack" if account.scope is not None and account.scope == bare_team:
            return _SLACK.fullmatch(account.id) is not None
    return False
