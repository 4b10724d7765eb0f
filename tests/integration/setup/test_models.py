"""The model part of ``setup``: each source, what it asks and what it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.agent.choice import LOOPBACK
from gateway.agent.weights import SMALL
from gateway.cli import model as model_command
from tests.emulators.openai import ModelStub
from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    from gateway.settings.home import Home
    from tests.integration.setup.operator import Operator

KEYED = "model: {provider: openai, name: old, base_url: 'http://127.0.0.1:9/v1'}  # mine\n"
REST = (
    ("Connect Telegram?", ""),
    ("Connect Discord?", ""),
    ("Connect Slack?", ""),
    ("Where shall memory be kept?", ""),
)
Script = tuple[tuple[str, str], ...]


@pytest.mark.parametrize(
    ("env", "config", "script", "then_env", "then_config"),
    [
        pytest.param(
            None,
            KEYED,
            (("Which model shall answer?", ""),),
            None,
            KEYED,
            id="kept",
        ),
        pytest.param(
            "OPENAI_API_KEY=sk-old\n",
            KEYED,
            (
                ("Which model shall answer?", "@OpenAI"),
                ("Key (OPENAI_API_KEY)? What you type is not shown. Enter keeps", ""),
                ("Which model? Enter means old.", "gpt-6-luna"),
            ),
            "OPENAI_API_KEY=sk-old\n",
            "model: {provider: openai, name: gpt-6-luna}  # mine\n",
            id="a provider whose key is stored",
        ),
        pytest.param(
            None,
            None,
            (
                ("Which model shall answer?", "@Anthropic"),
                ("Key (ANTHROPIC_API_KEY)?", "two words"),
                ("It holds blanks or odd characters; copy it anew.", ""),
                ("An answer is needed.", "sk-ant"),
                ("Which model?", ""),
            ),
            "ANTHROPIC_API_KEY=sk-ant\n",
            "model:\n  provider: anthropic\n  name: claude-sonnet-5-5\n",
            id="a provider with a new key",
        ),
        pytest.param(
            None,
            KEYED,
            (
                ("Which model shall answer?", "@A server"),
                ("Address of the server, with /v1 where it has that? Enter means", ""),
                ("Key of the server (OPENAI_API_KEY)?", ""),
                ("no server with OpenAI's API answers", "@Save it all the same"),
                ("Which model? Enter means old.", "new"),
            ),
            None,
            KEYED.replace("old", "new"),
            id="a server that is off",
        ),
        pytest.param(
            None,
            None,
            (
                ("Which model shall answer?", "@A server"),
                ("Address of the server", "http://127.0.0.1:9"),
                ("Key of the server", ""),
                ("no server with OpenAI's API answers", "@Leave the model as it was"),
            ),
            None,
            None,
            id="a server that is left alone",
        ),
        pytest.param(
            None,
            KEYED,
            (("Which model shall answer?", "@Whatever is found first"),),
            None,
            "model: {provider: auto}  # mine\n",
            id="whatever is found",
        ),
        pytest.param(
            None,
            None,
            (
                ("Which model shall answer?", "@A small model on this machine"),
                (f"Fetch {SMALL.name} (491 MB, Apache-2.0, https://huggingface.co", "n"),
            ),
            None,
            "model:\n  provider: local\n",
            id="a local model that is not fetched",
        ),
    ],
)
async def test_a_source_changes_these_bytes(
    home: Home,
    operator: Operator,
    env: str | None,
    config: str | None,
    script: Script,
    then_env: str | None,
    then_config: str | None,
) -> None:
    home.path.mkdir(mode=0o700)
    for path, text in ((home.env, env), (home.config, config)):
        if text is not None:
            path.write_text(text)
    (home.path / "honcho.json").write_text('{"peerName": "ada"}')
    await operator.run("setup")
    await operator.goes_through(("Your name?", ""), *script, *REST)
    if (then_env, then_config) != (env, config):
        await operator.answers("Save this?", "")
    await operator.ends()
    wanted = {".env": then_env, "config.yaml": then_config, "honcho.json": '{"peerName": "ada"}'}
    assert contents(home.path) == {name: text for name, text in wanted.items() if text is not None}


async def test_servers_that_answer_here_are_listed(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelStub() as model:
        model.models = ["embed-small", "chat-a", "chat-b"]
        monkeypatch.setitem(LOOPBACK, "Ollama", model.base_url)
        await operator.run("setup")
        await operator.goes_through(
            ("Your name?", ""),
            ("Model now: loopback:chat-a at ", "@A server"),
            (
                f"Answers on this machine: {model.base_url}: embed-small, chat-a, chat-b\r\n"
                f"Address of the server, with /v1 where it has that? Enter means {model.base_url}",
                "",
            ),
            ("Key of the server (OPENAI_API_KEY)? What you type is not shown.", ""),
            ("Which model? Enter means chat-a.", "chat-b"),
            *REST,
            ("Save this?", ""),
        )
        await operator.ends()
    assert contents(home.path)["config.yaml"] == (
        f'model:\n  provider: openai\n  base_url: "{model.base_url}"\n  name: chat-b\n'
    )
    assert ".env" not in contents(home.path)


async def test_a_local_model_is_fetched_after_saving(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = []

    def fetch(name: str) -> None:
        fetched.append((name, contents(home.path)["config.yaml"]))

    monkeypatch.setattr(model_command, "fetch", fetch)
    await operator.run("setup")
    await operator.goes_through(
        ("Your name?", ""),
        ("Enter means 6, A small model on this machine", ""),
        ("once everything is saved?", ""),
        *REST,
        ("Save this?", ""),
    )
    await operator.ends()
    assert fetched == [(SMALL.name, "model:\n  provider: local\n")]
