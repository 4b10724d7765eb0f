"""Telegram's own text code, called through TDLib: exact entities and exact error texts.

Entities are in Bot API form on this side. Where no TDLib is installed simple rules stand in:
entities are taken as given and ``parse_mode`` is refused.
"""

from __future__ import annotations

import importlib.util
import json
import re
from typing import Any

from tests.emulators.telegram.errors import bad_request

Entity = dict[str, Any]

HAS_TDLIB = importlib.util.find_spec("tdjson") is not None

_MODES: dict[str, dict[str, Any]] = {
    "markdown": {"@type": "textParseModeMarkdown", "version": 1},
    "markdownv2": {"@type": "textParseModeMarkdown", "version": 2},
    "html": {"@type": "textParseModeHTML"},
}

#: found by Telegram itself; a bot's own entities of these types are ignored
AUTOMATIC = {
    "mention": "Mention",
    "hashtag": "Hashtag",
    "cashtag": "Cashtag",
    "bot_command": "BotCommand",
    "url": "Url",
    "email": "EmailAddress",
    "phone_number": "PhoneNumber",
    "bank_card_number": "BankCardNumber",
}
_EXPLICIT = {
    "bold": "Bold",
    "italic": "Italic",
    "underline": "Underline",
    "strikethrough": "Strikethrough",
    "spoiler": "Spoiler",
    "code": "Code",
    "pre": "Pre",
    "blockquote": "BlockQuote",
    "expandable_blockquote": "ExpandableBlockQuote",
    "text_link": "TextUrl",
    "text_mention": "MentionName",
    "custom_emoji": "CustomEmoji",
}
_TO_TDLIB = AUTOMATIC | _EXPLICIT
KINDS = frozenset(_TO_TDLIB)
_FROM_TDLIB = {f"textEntityType{value}": key for key, value in _TO_TDLIB.items()} | {
    "textEntityTypePreCode": "pre"
}

# parseMarkdown is the one offline call that normalises given entities. It would read Markdown
# marks too, so they hide in the private use area meanwhile.
_MARKS = "*_~|`[]()"
_HIDE = {ord(mark): 0xF8E0 + place for place, mark in enumerate(_MARKS)}
_SHOW = {hidden: mark for mark, hidden in _HIDE.items()}

_SIMPLE_RULES = re.compile(
    r"(?P<url>https?://[^\s<>]+)|(?P<email>[\w.+-]+@[\w-]+\.[\w.]+)"
    r"|(?<![\w/])(?P<bot_command>/\w{1,64}(?:@\w{3,32})?)|(?<!\w)(?P<mention>@[A-Za-z]\w{3,31})"
    r"|(?<!\w)(?P<hashtag>#\w+)"
)


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, in which entities are measured."""
    return len(text) + sum(character > "\uffff" for character in text)


def parse(text: str, mode: str) -> tuple[str, list[Entity]]:
    """Parse ``text`` under a ``parse_mode``; raises ``ApiError`` with Telegram's own words."""
    if mode.lower() not in _MODES:
        raise bad_request("unsupported parse_mode")
    if not HAS_TDLIB:
        raise bad_request("this emulator needs the package tdjson for parse_mode")
    request = {"@type": "parseTextEntities", "text": text, "parse_mode": _MODES[mode.lower()]}
    return _formatted(_execute(request))


def fix(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Clean ``text``, check and normalise ``entities`` as Telegram does before it sends."""
    if not HAS_TDLIB:
        return text, sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))
    formatted = {
        "@type": "formattedText",
        "text": text.translate(_HIDE),
        "entities": [_to_tdlib(entity) for entity in entities],
    }
    cleaned, fixed = _formatted(_execute({"@type": "parseMarkdown", "text": formatted}))
    return cleaned.translate(_SHOW), fixed


def detect(text: str) -> list[Entity]:
    """Return the entities that Telegram finds by itself: addresses, mentions, commands …"""
    if HAS_TDLIB:
        readable = text.encode("utf-8", "replace").decode()
        found = _execute({"@type": "getTextEntities", "text": readable})["entities"]
        return _from_tdlib(found)
    return [
        {
            "offset": utf16_length(text[: match.start()]),
            "length": utf16_length(match.group()),
            "type": str(match.lastgroup),
        }
        for match in _SIMPLE_RULES.finditer(text)
    ]


def _execute(request: dict[str, Any]) -> dict[str, Any]:
    from tdjson import td_execute

    td_execute(b'{"@type":"setLogVerbosityLevel","new_verbosity_level":0}')
    answer: dict[str, Any] = json.loads(td_execute(json.dumps(request).encode()) or b"{}")
    if answer.get("@type") == "error":
        raise bad_request(answer["message"])
    return answer


def _formatted(answer: dict[str, Any]) -> tuple[str, list[Entity]]:
    return answer["text"], _from_tdlib(answer["entities"])


def _to_tdlib(entity: Entity) -> dict[str, Any]:
    kind = {"@type": f"textEntityType{_TO_TDLIB[entity['type']]}"}
    match entity:
        case {"type": "pre", "language": language} if language:
            kind = {"@type": "textEntityTypePreCode", "language": language}
        case {"type": "text_link", "url": url}:
            kind["url"] = url
        case {"type": "text_mention", "user": {"id": user}}:
            kind["user_id"] = user
        case {"type": "custom_emoji", "custom_emoji_id": emoji}:
            kind["custom_emoji_id"] = emoji
    return {
        "@type": "textEntity",
        "offset": entity["offset"],
        "length": entity["length"],
        "type": kind,
    }


def _from_tdlib(entities: list[dict[str, Any]]) -> list[Entity]:
    return [_entity(entity) for entity in entities if entity["type"]["@type"] in _FROM_TDLIB]


def _entity(found: dict[str, Any]) -> Entity:
    entity: Entity = {
        "offset": found["offset"],
        "length": found["length"],
        "type": _FROM_TDLIB[found["type"]["@type"]],
    }
    match found["type"]:
        case {"language": language}:
            entity["language"] = language
        case {"url": url}:
            entity["url"] = url
        case {"user_id": user}:
            entity["user"] = {"id": user}
        case {"custom_emoji_id": emoji}:
            entity["custom_emoji_id"] = str(emoji)
    return entity
