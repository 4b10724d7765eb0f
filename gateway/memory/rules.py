"""The writing keys of the configuration, as capture reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.model.ids import PeerId
    from gateway.policy.observation import ObservationRules
    from gateway.policy.saving import Frequency


@dataclass(frozen=True, slots=True)
class CaptureRules:
    """One consistent set; a look at a session reads it anew."""

    frequency: Frequency
    #: most characters of one message at the service
    part_limit: int
    #: the agent's name in the workspace, and its peer
    agent: str
    agent_peer: PeerId
    observation: ObservationRules
    #: why rows of a person or of the agent are not sent, "" when they are
    skip_user: str = ""
    skip_agent: str = ""
