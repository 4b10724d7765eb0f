"""Who observes whom in a memory session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gateway.model.memory import Observation

#: the presets of ``observationMode``: the person's flags, then the agent's
_PRESETS = {
    "directional": (Observation(True, True), Observation(True, True)),
    "unified": (Observation(True, False), Observation(False, True)),
}


@dataclass(frozen=True, slots=True)
class ObservationRules:
    """The flags by preset and override, before the session is looked at."""

    user: Observation
    agent: Observation


def rules(
    mode: Literal["directional", "unified"], user: Observation, agent: Observation
) -> ObservationRules:
    """Lay overrides over a preset; None in an override leaves the preset's flag."""
    preset_user, preset_agent = _PRESETS[mode]
    return ObservationRules(_over(user, preset_user), _over(agent, preset_agent))


def of_person(found: ObservationRules, *, alone: bool, attributed: bool) -> Observation:
    """Return a person's flags. With others around they observe nobody, whatever is configured:
    a session has room for ten observers. Whoever stands for nobody is not observed either.
    """
    if not attributed:
        return Observation(observe_me=False, observe_others=False)
    return Observation(found.user.observe_me, alone and found.user.observe_others)


def _over(override: Observation, preset: Observation) -> Observation:
    return Observation(
        preset.observe_me if override.observe_me is None else override.observe_me,
        preset.observe_others if override.observe_others is None else override.observe_others,
    )
