"""A home whose files have faults is mended by the wizard, and loses nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings.home import Home
    from tests.integration.setup.operator import Operator

CONFIG = (
    "# the house\nconversations:\n  audience: strickt   # who hears what\n  reply_in_thread: yes\n"
    "display: {skin: dark}  # another product's\nmemory: {provider: builtin}\n"
)
HONCHO = '{\n  "pinUserPeer": "maybe",\n  "timeout": "soon",\n  "theirs": [1]\n}\n'
ENV = "# keys\nOPENAI_API_KEY=sk-house\nthis is no assignment\n"
BROKEN = '{"peerName": "ada", oops'


def faulty(home: Home, config: str = CONFIG, honcho: str = HONCHO, env: str = ENV) -> None:
    home.path.mkdir(mode=0o700)
    home.config.write_text(config)
    (home.path / "honcho.json").write_text(honcho)
    home.env.write_text(env)


def kept(folder: Path, name: str) -> list[str]:
    """Return what stands in the dated copies of a file."""
    return [one.read_text() for one in folder.glob(f"{name}.20*")]


async def test_faults_are_taken_out_and_everything_else_stays(
    home: Home, operator: Operator
) -> None:
    faulty(home)
    await operator.run("memory", "setup")
    heard = await operator.answers("Mend that, and go on?", "y")
    for line in (
        "config.yaml:3: conversations.audience: strickt",
        "honcho.json:2: pinUserPeer: maybe is not a switch",
        "honcho.json:3: timeout: ",
        ".env:3: write NAME=value",
        "conversations.audience: taken out",
        "line 3: made a comment",
    ):
        assert line in heard
    heard = (
        await operator.goes_through(
            ("Where shall memory be kept?", ""),
            ("Name of the agent", ""),
            ("Change how memory works", ""),
            ("Your name?", "Ada"),
            ("Save this?", "y"),
        )
    )[-1]
    assert "pinUserPeer: taken out" in heard
    assert "as it was, it stays in " in heard
    await operator.ends()
    saved = contents(home.path)
    assert saved["config.yaml"] == CONFIG.replace("  audience: strickt   # who hears what\n", "")
    assert saved[".env"] == ENV.replace("this is", "# taken out by set-up: this is")
    assert json.loads(saved["honcho.json"]) == {
        "theirs": [1],
        "hosts": {"hermes": {"peerName": "Ada"}},
    }
    for name, text in (("config.yaml", CONFIG), ("honcho.json", HONCHO), (".env", ENV)):
        assert kept(home.path, name) == [text]
    assert "this is no assignment" not in operator.raw


@pytest.mark.parametrize("refuse", ["Mend that, and go on?", "Save this?"])
async def test_who_declines_finds_every_file_as_it_was(
    home: Home, operator: Operator, refuse: str
) -> None:
    faulty(home, honcho=BROKEN)
    before = contents(home.path)
    await operator.run("memory", "setup")
    if refuse == "Save this?":
        await operator.goes_through(
            ("Mend that, and go on?", "y"),
            ("Where shall memory be kept?", ""),
            ("Name of the agent", ""),
            ("Change how memory works", ""),
            ("Your name?", ""),
        )
    await operator.answers(refuse, "n")
    said = await operator.ends(2 if refuse.startswith("Mend") else 0)
    assert ("mend these lines" if refuse.startswith("Mend") else "Nothing was saved") in said
    assert contents(home.path) == before
    assert kept(home.path, "") == []


@pytest.mark.parametrize(
    "honcho",
    [BROKEN.encode(), b"[1, 2]", '{"peerName": "ada"}'.encode("utf-16")],
    ids=["malformed", "a list", "UTF-16"],
)
async def test_a_file_that_cannot_be_read_is_set_aside(
    home: Home, operator: Operator, honcho: bytes
) -> None:
    faulty(home, config="memory: {provider: builtin}\n", env="")
    (home.path / "honcho.json").write_bytes(honcho)
    answers = home.user / "answers.yaml"
    answers.write_text("mend: yes\nname: Ada\nmemory: {place: builtin}\n")
    await operator.run("setup", "--answers", str(answers), "--json")
    await operator.ends()
    (aside,) = home.path.glob("honcho.json.20*")
    assert aside.read_bytes() == honcho
    saved = json.loads(contents(home.path)["honcho.json"])
    assert saved == {"hosts": {"hermes": {"peerName": "Ada"}}}
    files = json.loads(operator.result.getvalue())["files"]
    (file,) = (one for one in files if one["path"].endswith("honcho.json"))
    assert file["changes"][:2] == [
        "cannot be read, so it is set aside and begun anew",
        f"as it was, it stays in {aside}",
    ]


async def test_a_file_of_answers_has_to_say_so(home: Home, operator: Operator) -> None:
    faulty(home)
    answers = home.user / "answers.yaml"
    answers.write_text("name: Ada\n")
    await operator.run("setup", "--answers", str(answers))
    said = await operator.ends(2)
    assert "config.yaml:3: conversations.audience" in said
    assert "or answer mend: yes" in said
    assert kept(home.path, "") == []


@pytest.mark.parametrize(
    ("name", "value"), [("HONCHO_TIMEOUT", "soon"), ("GATEWAY_ALLOWED_USERS", "*")]
)
async def test_what_stands_in_no_file_is_named_and_left(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    faulty(home, honcho="{}", env="")
    monkeypatch.setenv(name, value)
    await operator.run("memory", "setup")
    said = await operator.ends(2)
    assert f"environment: {name}" in said
    assert "mend these lines" in said
    assert contents(home.path)["config.yaml"] == CONFIG
