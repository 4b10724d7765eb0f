"""Values of ``gateway.model`` as JSON columns. Old rows must stay readable: add fields with
defaults, never rename one without a migration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

from gateway.model.choice import Choice
from gateway.model.events import InboundEvent
from gateway.model.outbound import RichText

if TYPE_CHECKING:
    from collections.abc import Mapping

_event = TypeAdapter(InboundEvent)
_content = TypeAdapter(RichText)
_choice = TypeAdapter(Choice)


def event_to_json(event: InboundEvent) -> dict[str, Any]:
    """Return an event without its text, which is stored once, as a message."""
    dumped = _event.dump_python(replace(event, text=""), mode="json", exclude_defaults=True)
    return cast("dict[str, Any]", dumped)


def event_from_json(value: Mapping[str, Any], text: str) -> InboundEvent:
    """Return the event with its text put back."""
    return replace(_event.validate_python(value), text=text)


def content_to_json(content: RichText) -> dict[str, Any]:
    """Return a part's text and ranges."""
    return cast("dict[str, Any]", _content.dump_python(content, mode="json"))


def content_from_json(value: Mapping[str, Any]) -> RichText:
    """Return the part's text and ranges."""
    return _content.validate_python(value)


def choice_to_json(choice: Choice) -> dict[str, Any]:
    """Return the buttons under a part."""
    return cast("dict[str, Any]", _choice.dump_python(choice, mode="json"))


def choice_from_json(value: Mapping[str, Any]) -> Choice:
    """Return the buttons under a part."""
    return _choice.validate_python(value)
