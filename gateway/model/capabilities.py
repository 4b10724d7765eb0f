"""What a platform can do, declared by its adapter; code asks these, never a platform's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model.outbound import RichText


class Resend(StrEnum):
    """What may be done about a send whose outcome is unknown."""

    #: the platform drops a second send with the same key
    IDEMPOTENT = "idempotent"
    #: the adapter can look the message up by its key
    LOOK_UP = "look_up"
    #: neither: record it as unknown and leave it
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Frozen facts about one platform."""

    #: largest message, in the units of ``length``
    max_length: int
    #: ``utf16`` units or ``points`` (code points)
    length_unit: str
    resend: Resend
    #: the channel has user accounts at all (the console has none)
    has_users: bool = True
    #: shows the answer while it is written
    preview: bool = False
    typing: bool = False
    #: shows buttons under a message and says who pressed them
    buttons: bool = False
    #: seconds after which a typing sign fades and must be renewed
    typing_seconds: float = 5.0
    #: a message this long may be one piece of a longer paste (0: pastes are never cut)
    paste_limit: int = 0
    #: most formatting ranges one message may hold (0: any number)
    max_spans: int = 0
    #: bytes of the largest file that the platform hands out (0: it names no limit)
    max_download: int = 0
    #: bytes of the largest file that a bot may send there (0: none may be sent)
    max_upload: int = 0
    #: size of a part as the platform counts it, where that is not its visible text in
    #: ``length_unit`` (formatting that is written into the text counts as well)
    measure: Callable[[RichText], int] | None = field(default=None, compare=False)
