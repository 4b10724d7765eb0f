"""The words of a message: the bot's mention taken out by its place, other mentions readable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.discord.people import display_name
from gateway.text.clean import clean

if TYPE_CHECKING:
    from adapters.discord.directory import Surroundings
    from adapters.discord.fields import Fields

#: code, in which nothing is a mention; a person; a role; an emoji of the guild
_MARKUP = re.compile(
    r"(?P<code>```.*?```|``.+?``|`[^`\n]+`)"
    r"|<@!?(?P<user>\d+)>|<@&(?P<role>\d+)>|<a?:(?P<emoji>\w+):\d+>",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Words:
    """Text of a message without the first mention of the bot."""

    text: str
    mentioned: bool = False


def read_words(message: Fields, around: Surroundings) -> Words:
    """Return what was said; a mention counts only where Discord lists it.

    Exactly one mention of the bot, or of a role that is its own, goes with one blank beside it.
    """
    text = clean(message.text("content"))
    own_roles = around.own_roles.intersection(message.ids("mention_roles"))
    mentioned = around.account in _names(message) or bool(own_roles)
    own = next((m for m in _mentions(text) if _is_own(m, around, own_roles)), None)
    if own is None or not mentioned:
        return Words(readable(message), mentioned)
    start, end = _with_blank(text, own)
    names = _names(message)
    return Words(_shown(text[:start], names) + _shown(text[end:], names), mentioned)


def readable(message: Fields) -> str:
    """Return the text with people's mentions as ``@name`` and emoji as ``:name:``."""
    return _shown(clean(message.text("content")), _names(message))


def _names(message: Fields) -> dict[str, str]:
    return {user.id(): display_name(user) for user in message.children("mentions")}


def _mentions(text: str) -> list[re.Match[str]]:
    return [match for match in _MARKUP.finditer(text) if match["code"] is None]


def _shown(text: str, names: dict[str, str]) -> str:
    return _MARKUP.sub(lambda match: _readable(match, names), text)


def _is_own(match: re.Match[str], around: Surroundings, own_roles: frozenset[str]) -> bool:
    return match["user"] == around.account or match["role"] in own_roles


def _readable(match: re.Match[str], names: dict[str, str]) -> str:
    if match["emoji"] is not None:
        return f":{match['emoji']}:"
    name = names.get(match["user"] or "", "")
    return f"@{name}" if name else match[0]


def _with_blank(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return what goes with the mention: the blank behind it, or at the end the one before."""
    start, end = match.span()
    if text[end : end + 1].isspace() and (start == 0 or text[start - 1].isspace()):
        return start, end + 1
    if end == len(text) and text[start - 1 : start].isspace():
        return start - 1, end
    return start, end
