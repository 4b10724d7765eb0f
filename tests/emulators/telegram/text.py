"""From what a bot sends to what Telegram stores: parsing, limits, trimming, entities."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram import tdlib
from tests.emulators.telegram.errors import bad_request

if TYPE_CHECKING:
    from tests.emulators.telegram.tdlib import Entity

#: code points after parsing
LONGEST_TEXT = 4096
LONGEST_CAPTION = 1024
#: bytes before parsing
LARGEST_RAW = 32768
MOST_ENTITIES = 100

#: these cannot intersect each other, nor anything that Telegram finds by itself
_SOLID = {"code", "pre", "text_link", "text_mention", "custom_emoji"}
_QUOTES = {"blockquote", "expandable_blockquote"}
_FIELDS = {"text_link": "url", "text_mention": "user", "custom_emoji": "custom_emoji_id"}


@dataclass(frozen=True, slots=True)
class Formatted:
    """Stored text with entities in UTF-16 units."""

    text: str
    entities: list[Entity]

    def fields(self, text_key: str, entities_key: str) -> dict[str, Any]:
        """Return message fields; absent where empty, as Telegram leaves them out."""
        pairs: dict[str, Any] = {text_key: self.text, entities_key: self.entities}
        return {key: value for key, value in pairs.items() if value}


def read(raw: str, parse_mode: str, entities: str) -> Formatted:
    """Return what Telegram makes of ``raw``. ``entities`` is JSON or "" and loses to a mode."""
    if len(raw.encode()) > LARGEST_RAW:
        raise bad_request("text is too long")
    if raw and parse_mode and parse_mode.lower() != "none":
        text, given = tdlib.parse(raw, parse_mode)
    else:
        text, given = raw, _given_entities(entities)
    text, given = _trimmed(*tdlib.fix(text, given))
    found = [entity for entity in tdlib.detect(text) if not _taken(entity, given)]
    text, complete = tdlib.fix(text, given + found)
    return Formatted(text, complete[:MOST_ENTITIES])


def _given_entities(raw: str) -> list[Entity]:
    try:
        parsed = json.loads(raw) if raw else []
    except json.JSONDecodeError:
        return []
    checked = [_checked(entity) for entity in parsed] if isinstance(parsed, list) else []
    return [entity for entity in checked if entity["type"] not in tdlib.AUTOMATIC]


def _checked(entity: Any) -> Entity:
    problem = _entity_problem(entity)
    if problem:
        raise bad_request(f"can't parse MessageEntity: {problem}")
    checked: Entity = entity
    return checked


def _entity_problem(entity: Any) -> str:
    if not isinstance(entity, dict):
        return "expected an Object"
    for field in ("offset", "length"):
        if not isinstance(entity.get(field), int):
            return f'Can\'t find field "{field}"'
    kind = entity.get("type")
    if kind not in tdlib.KINDS:
        return "Unsupported type specified"
    needed = _FIELDS.get(kind)
    return f'Can\'t find field "{needed}"' if needed and needed not in entity else ""


def _trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    text = text.rstrip(" \n")
    end = tdlib.utf16_length(text)
    first = min((entity["offset"] for entity in entities), default=end)
    start = min(len(text) - len(text.lstrip(" \n")), first)
    kept = [
        entity
        | {
            "offset": entity["offset"] - start,
            "length": min(entity["length"], end - entity["offset"]),
        }
        for entity in entities
        if entity["offset"] < end
    ]
    return text[start:], kept


def _taken(found: Entity, given: list[Entity]) -> bool:
    return any(_in_the_way(found, entity) for entity in given)


def _in_the_way(found: Entity, given: Entity) -> bool:
    begin, end = found["offset"], found["offset"] + found["length"]
    given_begin, given_end = given["offset"], given["offset"] + given["length"]
    if end <= given_begin or given_end <= begin:
        return False
    inside = given_begin <= begin and end <= given_end
    return given["type"] in _SOLID or (given["type"] in _QUOTES and not inside)
