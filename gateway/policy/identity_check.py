"""What is wrong or surprising about the identity keys, in words for the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.policy import naming
from gateway.policy.generated import prefixed_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gateway.policy.identity import IdentityRules
    from gateway.policy.runtime_id import RuntimeId


def check(
    rules: IdentityRules, *, teams: Collection[str] = (), shared: bool = False
) -> tuple[list[str], list[str]]:
    """Return (errors, warnings), one line each; any error must stop the start.

    ``teams``: the Slack teams that are connected. ``shared``: a second person's account or a
    group is admitted.
    """
    errors = [*_pin_errors(rules), *_agent_errors(rules)]
    return errors, [*_pin_warnings(rules, shared), *_team_warnings(rules, teams)]


def generated_name_clashes(rules: IdentityRules, accounts: Iterable[RuntimeId]) -> list[str]:
    """Say which configured names are the generated names of ``accounts``.

    That is allowed, and means the same person: their memory is one.
    """
    if rules.pin:
        return []
    own = {_generated(rules, account): account for account in accounts if _unnamed(rules, account)}
    return [
        f'{key} is "{name}", which is also the name made for {own[name].qualified}: '
        "both are one person with one memory"
        for key, name in _configured(rules)
        if name in own
    ]


def _configured(rules: IdentityRules) -> Iterator[tuple[str, str]]:
    if rules.peer_name:
        yield "peerName", rules.peer_name
    for key, target in rules.aliases.items():
        yield f'userPeerAliases["{key}"]', target


def _generated(rules: IdentityRules, account: RuntimeId) -> str:
    return next(naming.candidates(prefixed_name(rules.prefix, account, rules.bare_team)))


def _unnamed(rules: IdentityRules, account: RuntimeId) -> bool:
    named = any(form in rules.aliases for form in account.forms)
    return not named and account.qualified not in rules.links


def _pin_errors(rules: IdentityRules) -> Iterator[str]:
    if rules.pin and not rules.peer_name:
        yield "pinUserPeer is true, but peerName is empty: set peerName, or pinUserPeer to false"


def _agent_errors(rules: IdentityRules) -> Iterator[str]:
    if not rules.ai_peer:
        yield "aiPeer is empty: give the agent a name"
        return
    agent = next(naming.candidates(rules.ai_peer))
    for key, name in _configured(rules):
        if next(naming.candidates(name)) == agent:
            yield (
                f'{key} "{name}" and aiPeer "{rules.ai_peer}" are one name in the memory '
                "service: a person and the agent must differ, rename one of them"
            )


def _pin_warnings(rules: IdentityRules, shared: bool) -> Iterator[str]:
    if rules.pin and shared:
        yield (
            f'pinUserPeer is true, so everybody who is admitted is "{rules.peer_name}" and '
            "shares one memory: set it to false and alias your own ids to peerName instead"
        )


def _team_warnings(rules: IdentityRules, teams: Collection[str]) -> Iterator[str]:
    if len(teams) < 2:
        return
    for key in rules.aliases:
        platform, _, user = key.rpartition(":")
        if platform in ("", "slack") and user and not user.isdigit():
            yield (
                f'userPeerAliases["{key}"] matches in each of {len(teams)} Slack teams: '
                f'write "slack:TEAM:{user}" to mean one person'
            )
