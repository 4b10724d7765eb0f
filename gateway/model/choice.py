"""A question with buttons: what may be chosen, and what a person pressed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gateway.model.ids import MessageId

#: platforms take 64 bytes of data with a button; an id and a value stay well below
_SEPARATOR = ":"
#: in front of our own data, so that a button of another program is not taken for ours
_OURS = "choice"


class Tone(StrEnum):
    """How a button looks, where the platform has colours."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Option:
    """One button. ``value`` is a short word in lower case, ``label`` what people read."""

    value: str
    label: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Choice:
    """The buttons under a part. ``id`` is unguessable and names the stored question."""

    id: str
    options: tuple[Option, ...]
    #: how to answer by words, as Markdown: put behind the part where buttons cannot be shown
    instead: str = ""

    def data(self, option: Option) -> str:
        """Return what the platform hands back when the button is pressed."""
        return _SEPARATOR.join((_OURS, self.id, option.value))


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button that somebody pressed."""

    choice: str
    value: str
    #: the message that the buttons stand under
    message: MessageId


def read_data(data: str, message: MessageId) -> Pressed | None:
    """Return what was pressed; None: the button is none of ours."""
    ours, _, rest = data.partition(_SEPARATOR)
    choice, _, value = rest.partition(_SEPARATOR)
    if ours != _OURS or not choice or not value:
        return None
    return Pressed(choice, value, message)
