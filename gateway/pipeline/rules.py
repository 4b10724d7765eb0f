"""The settings as the pipeline's decisions need them, exchanged whole on a reload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.memory.files import file_rules
from gateway.memory.recall import RecallRules
from gateway.memory.rules import CaptureRules
from gateway.memory.seed import SeedRules, seed_session
from gateway.memory.tools import ToolRules
from gateway.model.ids import PeerId
from gateway.model.memory import Observation
from gateway.policy import naming, observation
from gateway.policy.admission import AccessRules
from gateway.policy.identity import IdentityRules
from gateway.policy.reasoning import DialecticRules
from gateway.policy.session import ResetRule
from gateway.text.catalog import language_of

if TYPE_CHECKING:
    from datetime import timedelta

    from gateway.memory.files import FileRules
    from gateway.model.events import Sender
    from gateway.model.ids import ConversationKey, PlatformName, ScopeId
    from gateway.policy.session import ConsoleNaming
    from gateway.settings.honcho_schema import PeerObservation
    from gateway.settings.schema import ConversationSettings, HonchoSettings, Settings


_MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Rules:
    """One consistent set of rules; a turn reads it once."""

    profile: str
    #: ``auto`` follows the person
    language: str
    identity: IdentityRules
    access: AccessRules
    #: messages that one account may send in a minute
    per_minute: int
    conversations: ConversationSettings
    reset: ResetRule
    workspace: str
    #: names of platform sessions set by hand: conversation key → name
    sessions: dict[str, str]
    #: how sessions outside a platform are named (title and peer still to be filled in)
    outside: ConsoleNaming
    #: why rows of this role never go to memory: "" when they do
    skip_user: str
    skip_agent: str
    #: the agent's peer
    agent_peer: PeerId
    #: how the ledger goes to the memory service
    capture: CaptureRules
    #: what of the home's files goes there
    seed: SeedRules
    #: what is recalled, and when it is fetched
    recall: RecallRules
    #: what the model's memory tools may do
    tools: ToolRules
    #: the memory files, but for the console's person without peerName
    notes: FileRules
    #: bytes of the largest file that is taken
    file_limit: int

    @property
    def max_age(self) -> timedelta:
        """Older events are recorded and not answered."""
        return self.conversations.max_age

    def language_for(self, sender: Sender) -> str:
        """Return the language to write to a person in."""
        if self.language != "auto":
            return self.language
        return language_of(sender.language)

    def session_by_hand(self, key: ConversationKey) -> str | None:
        """Return the memory session that the operator gave a platform conversation."""
        return self.sessions.get(key)

    def identity_for(
        self, platform: PlatformName, *, bare_team: ScopeId | None, stand_in: str
    ) -> IdentityRules:
        """Return the identity rules; ``stand_in`` names the console's person without peerName.

        ``bare_team`` is the first Slack team that connected; a configured one goes before it.
        The stand-in satisfies no pin and is never used on a platform with users.
        """
        rules = replace(self.identity, bare_team=self.identity.bare_team or bare_team)
        if platform == "console" and not rules.peer_name and stand_in:
            rules = replace(rules, peer_name=stand_in)
        return rules


def build(
    settings: Settings,
    honcho: HonchoSettings,
    *,
    outside: ConsoleNaming,
) -> Rules:
    """Return the rules that these settings say."""
    skip_user, skip_agent = _skip_reasons(settings, honcho)
    agent = PeerId(next(naming.candidates(honcho.ai_peer)))
    identity = identity_rules(settings, honcho)
    capture = CaptureRules(
        frequency=honcho.write_frequency,
        part_limit=honcho.message_max_chars,
        agent=honcho.host,
        agent_peer=agent,
        observation=_observation_rules(honcho),
        skip_user=skip_user,
        skip_agent=skip_agent,
    )
    return Rules(
        profile=settings.profile,
        language=settings.language,
        identity=identity,
        access=_access_rules(settings),
        per_minute=settings.access.rate.per_minute,
        conversations=settings.conversations,
        reset=ResetRule(
            mode=settings.conversations.reset.mode,
            idle_minutes=settings.conversations.reset.idle_minutes,
            at_hour=settings.conversations.reset.at_hour,
            zone=settings.zone,
        ),
        workspace=honcho.workspace,
        file_limit=settings.attachments.max_mb * _MB,
        sessions=dict(honcho.sessions),
        outside=outside,
        skip_user=skip_user,
        skip_agent=skip_agent,
        agent_peer=agent,
        capture=capture,
        seed=SeedRules(capture, honcho.workspace, _owner(honcho)),
        notes=file_rules(settings.memory, honcho, owner=_owner(honcho)),
        recall=_recall_rules(honcho, agent, identity),
        tools=_tool_rules(settings, honcho, agent),
    )


def _access_rules(settings: Settings) -> AccessRules:
    access = settings.access
    return AccessRules(
        admins=access.admins,
        allow=access.allow,
        roles=access.roles,
        places=access.places,
        open_places=access.open_places,
        allow_all=access.allow_all,
        pairing=access.pairing,
        link_approval=access.link_approval,
        bots=access.bots,
    )


def _tool_rules(settings: Settings, honcho: HonchoSettings, agent: PeerId) -> ToolRules:
    return ToolRules(
        shown=honcho.recall_mode != "context",
        agent=agent,
        agent_observes=bool(_observation_rules(honcho).agent.observe_others),
        dynamic=honcho.dialectic_dynamic,
        level=honcho.dialectic_reasoning_level,
        cap=honcho.reasoning_level_cap,
        openclaw_names=settings.tools.openclaw_names,
    )


def _owner(honcho: HonchoSettings) -> PeerId | None:
    """Return whose the home's own MEMORY.md and USER.md are; None without peerName."""
    return PeerId(next(naming.candidates(honcho.peer_name))) if honcho.peer_name else None


def identity_rules(settings: Settings, honcho: HonchoSettings) -> IdentityRules:
    """Return what the configuration says of who is who."""
    return IdentityRules(
        pin=honcho.pin_user_peer,
        peer_name=honcho.peer_name or "",
        aliases=honcho.user_peer_aliases,
        links={},
        prefix=honcho.runtime_peer_prefix,
        ai_peer=honcho.ai_peer,
        bare_team=getattr(settings.platforms.get("slack"), "bare_team", None),
    )


def _recall_rules(honcho: HonchoSettings, agent: PeerId, identity: IdentityRules) -> RecallRules:
    return RecallRules(
        inject=honcho.recall_mode != "tools",
        open_at_start=honcho.recall_mode == "tools" and honcho.init_on_session_start,
        context_tokens=honcho.context_tokens,
        context_cadence=honcho.context_cadence,
        dialectic=DialecticRules(
            cadence=honcho.dialectic_cadence,
            depth=honcho.dialectic_depth,
            level=honcho.dialectic_reasoning_level,
            levels=honcho.dialectic_depth_levels,
            heuristic=honcho.reasoning_heuristic,
            cap=honcho.reasoning_level_cap,
        ),
        dialectic_chars=honcho.dialectic_max_chars,
        dialectic_input_chars=honcho.dialectic_max_input_chars,
        base_wait=honcho.first_turn_base_wait,
        dialectic_wait=honcho.first_turn_dialectic_wait,
        agent=agent,
        agent_observes=bool(_observation_rules(honcho).agent.observe_others),
        seed_session=seed_session(honcho.host, agent),
        revision=naming.digest(repr(identity))[:16],
    )


def _observation_rules(honcho: HonchoSettings) -> observation.ObservationRules:
    return observation.rules(
        honcho.observation_mode,
        user=_flags(honcho.observation.user),
        agent=_flags(honcho.observation.ai),
    )


def _flags(override: PeerObservation) -> Observation:
    return Observation(override.observe_me, override.observe_others)


def _skip_reasons(settings: Settings, honcho: HonchoSettings) -> tuple[str, str]:
    if settings.memory.provider == "honcho" and honcho.enabled is False:
        return "disabled", "disabled"
    if not honcho.save_messages:
        return "saveMessages", "saveMessages"
    user = "userMemoryMode" if honcho.user_mode == "local" else ""
    agent = "agentMemoryMode" if honcho.agent_mode == "local" else ""
    return user, agent


class Current:
    """The rules in force. Assign ``rules`` to exchange them; readers take them once."""

    def __init__(self, rules: Rules, *, stand_in: str = "") -> None:
        self.rules = rules
        #: the system user's name, for the console's person when no peerName is set
        self.stand_in = stand_in
