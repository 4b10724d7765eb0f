"""The examples hold every key with its default and a comment; nothing in them is unknown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from gateway.settings.credentials import NAMES
from gateway.settings.honcho import KEYS
from gateway.settings.schema import ConsoleSettings, HonchoSettings, Settings
from tests.unit.settings.homes import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.settings.homes import Homes

CONFIG = Path(__file__).parents[3] / "config"
_SECTION = re.compile(r" *\w+:\s*$")


def paths_of(model: BaseModel) -> Iterator[str]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        yield name
        if isinstance(value, BaseModel):
            yield from paths_of(value)


def test_config_example_is_the_defaults(homes: Homes) -> None:
    loaded = homes.read((CONFIG / "config.example.yaml").read_text())
    platforms = {"console": ConsoleSettings(), **{name: model() for name, model in MODELS.items()}}
    assert loaded.settings == Settings(platforms=platforms)
    assert (loaded.warnings, loaded.unused) == ((), ())


def test_config_example_names_every_key() -> None:
    text = (CONFIG / "config.example.yaml").read_text()
    keys = set(re.findall(r"(?:^ *|[{,] ?)(\w+):", text, re.MULTILINE))
    models = [Settings(), *(model() for model in MODELS.values())]
    assert {path for model in models for path in paths_of(model)} <= keys


def test_config_example_explains_every_key() -> None:
    lines = (CONFIG / "config.example.yaml").read_text().splitlines()
    bare = [
        line for line in lines if line.strip() and "#" not in line and not _SECTION.match(line)
    ]
    assert bare == []


def test_honcho_example_is_the_defaults(homes: Homes) -> None:
    text = (CONFIG / "honcho.example.json").read_text()
    loaded = homes.read(honcho=text)
    assert loaded.honcho == HonchoSettings()
    assert set(json.loads(text)) == set(KEYS)
    assert (loaded.warnings, loaded.unused) == ((), ())


@pytest.mark.parametrize("name", NAMES)
def test_env_example_names_every_secret(name: str) -> None:
    assert f"\n# {name}=\n" in (CONFIG / "env.example").read_text()


def test_env_example_sets_nothing_and_works_uncommented(homes: Homes) -> None:
    text = (CONFIG / "env.example").read_text()
    assert dict(homes.read(env=text).secrets) == {}
    values = re.sub(r"^# (\w+)=$", r"\1=7", text, flags=re.MULTILINE)
    values = values.replace("URL=7", "URL=http://h").replace("ENVIRONMENT=7", "ENVIRONMENT=local")
    values = re.sub(r"^(SLACK_\w+_(?:USERS|CHANNELS))=7$", r"\1=U7", values, flags=re.MULTILINE)
    loaded = homes.read(env=values)
    assert dict(loaded.secrets) == dict.fromkeys(NAMES, "7")
    assert loaded.settings.access.roles["discord"] == {"7"}
    assert (loaded.honcho.workspace, loaded.honcho.timeout) == ("7", 7)
