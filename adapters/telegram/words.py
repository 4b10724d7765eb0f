"""The words of a message: text or caption, and the bot's mention taken out by its entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.text.units import utf16_offsets

if TYPE_CHECKING:
    from adapters.telegram.fields import Fields
    from gateway.model.ids import AccountId


@dataclass(frozen=True, slots=True)
class Me:
    """The bot as Telegram knows it. ``username`` comes without the @ and may change."""

    account: AccountId
    username: str


@dataclass(frozen=True, slots=True)
class Words:
    """Raw text of a message without the first mention of the bot."""

    text: str
    mentioned: bool = False


def read_words(message: Fields, me: Me) -> Words:
    """Return what was said; a mention counts only where Telegram marked it as an entity.

    Exactly one mention goes, with one blank beside it; later ones, look-alikes
    (``@gate_bot2``) and addresses (``a@gate_bot.example``) stay. The text is not cleaned yet:
    entity offsets count the raw one.
    """
    key = "text" if message.has("text") else "caption"
    text = message.text(key)
    entities = message.children("entities" if key == "text" else "caption_entities")
    points = _points_by_unit(text)
    for entity in entities:
        start, end = _code_points(entity, points)
        if _names_me(entity, text[start:end], me):
            return Words(_without(text, start, end), mentioned=True)
    return Words(text)


def _points_by_unit(text: str) -> dict[int, int]:
    offsets = utf16_offsets(text, range(len(text) + 1))
    return {offset: point for point, offset in enumerate(offsets)}


def _code_points(entity: Fields, points: dict[int, int]) -> tuple[int, int]:
    """Turn an entity's UTF-16 range into code points; one that cuts a character is empty."""
    start = entity.required("offset")
    end = start + entity.required("length")
    return (points[start], points[end]) if start in points and end in points else (0, 0)


def _names_me(entity: Fields, marked: str, me: Me) -> bool:
    match entity.text("type"):
        case "mention":
            return bool(me.username) and marked.casefold() == f"@{me.username}".casefold()
        case "text_mention":
            user = entity.child("user")
            return user is not None and user.id() == me.account
        case _:
            return False


def _without(text: str, start: int, end: int) -> str:
    before, after = text[:start], text[end:]
    if after[:1].isspace() and (not before or before[-1].isspace()):
        return before + after[1:]
    if not after and before[-1:].isspace():
        return before[:-1]
    return before + after
