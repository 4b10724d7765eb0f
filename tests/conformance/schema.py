"""The little of JSON Schema that the service's own contract uses."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

_SCHEMAS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "contract.json").read_text(encoding="utf-8")
)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def faults(name: str, value: Any) -> list[str]:
    """Return what in ``value`` is not as the component ``name`` of the contract says."""
    return _faults(_SCHEMAS[name], value, name)


def _faults(schema: dict[str, Any], value: Any, where: str) -> list[str]:
    if "$ref" in schema:
        return _faults(_SCHEMAS[schema["$ref"].rsplit("/", 1)[1]], value, where)
    if "anyOf" in schema:
        tried = [_faults(each, value, where) for each in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    if not _has_type(schema, value):
        return [f"{where}: {type(value).__name__} instead of {schema['type']}"]
    found = _rules(schema, value, where)
    if isinstance(value, dict):
        found += _properties(schema, value, where)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += _faults(schema["items"], item, f"{where}[{index}]")
    return found


def _has_type(schema: dict[str, Any], value: Any) -> bool:
    kinds = _TYPES.get(schema.get("type", ""), (object,))
    return isinstance(value, kinds) and (
        bool in kinds or not isinstance(value, bool) or "type" not in schema
    )


def _rules(schema: dict[str, Any], value: Any, where: str) -> list[str]:
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is not one of {schema['enum']}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{where}: {value} is less than {schema['minimum']}"]
    if schema.get("format") == "date-time" and datetime.fromisoformat(value).tzinfo is None:
        return [f"{where}: a time without its zone"]
    return []


def _properties(schema: dict[str, Any], value: dict[str, Any], where: str) -> list[str]:
    found = [
        f"{where}: {key} is missing" for key in schema.get("required", []) if key not in value
    ]
    known = schema.get("properties", {})
    for key, each in value.items():
        if key in known:
            found += _faults(known[key], each, f"{where}.{key}")
        elif isinstance(schema.get("additionalProperties"), dict):
            found += _faults(schema["additionalProperties"], each, f"{where}.{key}")
    return found
