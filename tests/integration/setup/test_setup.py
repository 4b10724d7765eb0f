"""``setup`` from an empty home to a gateway on three platforms, by hand and from a file."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from gateway.agent.choice import LOOPBACK
from tests.emulators.discord import TOKEN as DISCORD_TOKEN
from tests.emulators.discord import DiscordEmulator
from tests.emulators.openai import ModelStub
from tests.emulators.slack import SlackEmulator
from tests.emulators.slack.world import APP_TOKEN, TEAM
from tests.emulators.slack.world import TOKEN as SLACK_TOKEN
from tests.emulators.telegram import TOKEN, TelegramEmulator
from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.settings.home import Home
    from tests.integration.setup.operator import Operator

ME, FRIEND = "700100200", "700100201"


@pytest.fixture
async def platforms(home: Home) -> AsyncIterator[str]:
    """Three platforms, and the config.yaml that leads to them."""
    async with TelegramEmulator() as tg, DiscordEmulator() as dc, SlackEmulator() as slack:
        tg.bot(TOKEN)
        dc.bot()
        slack.bot()
        config = (
            "# where the platforms are\nplatforms:\n"
            f"  telegram: {{base_url: '{tg.base_url}'}}   # emulated\n"
            f"  discord: {{api_base: '{dc.api_base}'}}\n"
            f"  slack: {{base_url: '{slack.base_url}'}}\n"
            "display: {skin: dark}  # another product's\n"
        )
        home.path.mkdir(mode=0o700)
        home.config.write_text(config)
        yield config


def expected(config: str, model: str) -> dict[str, str]:
    return {
        ".env": (
            f"OPENAI_API_KEY=sk-house\nTELEGRAM_BOT_TOKEN={TOKEN}\n"
            f"DISCORD_BOT_TOKEN={DISCORD_TOKEN}\n"
            f"SLACK_BOT_TOKEN={SLACK_TOKEN}\nSLACK_APP_TOKEN={APP_TOKEN}\n"
        ),
        "config.yaml": (
            f'{config}model:\n  provider: openai\n  base_url: "{model}"\n  name: stub-model\n'
            f'access:\n  allow:\n    telegram: ["{ME}", "{FRIEND}"]\n'
            f'  admins: ["telegram:{ME}"]\n'
        ),
        "honcho.json": (
            '{\n  "hosts": {\n    "hermes": {\n      "peerName": "Ada",\n'
            '      "userPeerAliases": {\n'
            f'        "telegram:{ME}": "Ada",\n        "slack:{TEAM}:U0ADA": "Ada"\n'
            "      }\n    }\n  }\n}\n"
        ),
    }


async def test_everything_by_hand(
    home: Home, platforms: str, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelStub() as model:
        model.api_key = "sk-house"
        monkeypatch.setitem(LOOPBACK, "Ollama", model.base_url)
        await operator.run("setup", "--json")
        await operator.goes_through(
            ("Your name? Enter means ada.", "hermes"),
            ("hermes is the agent's own name; give another one.", "Ada"),
            ("Which model shall answer?", "@A server with OpenAI's API"),
            ("Address of the server", "127.0.0.1"),
            ("127.0.0.1 is not an address; write it whole", model.base_url),
            ("Key of the server (OPENAI_API_KEY)? What you type is not shown.", "wrong"),
            ("no server with OpenAI's API answers", "@Type it again"),
            ("Address of the server", model.base_url),
            ("Key of the server", "sk-house"),
            ("Its models: stub-model\r\nWhich model? Enter means stub-model.", ""),
            ("Connect Telegram? Type y or n; Enter means n.", "perhaps"),
            ("perhaps is none of these.\r\nConnect Telegram?", "y"),
            ("Bot token? @BotFather", "123456"),
            ("is not of the form 123456:ABC", "@Type it again"),
            ("Bot token? @BotFather", "123456:WRONG"),
            ("Telegram does not accept the token", "1"),
            ("Bot token? @BotFather", TOKEN),
            ("Telegram takes the token: @gate_bot.\r\nWho may write", f"{ME}, mira"),
            ("mira is not an account id; write the digits", f"{ME},{FRIEND}"),
            ("Who is admin on Telegram", ME),
            ("Connect Discord?", "y"),
            ("Bot token? It is on the page Bot", DISCORD_TOKEN),
            ("Discord takes the token: gate.\r\nWho may write", ""),
            ("Who is admin on Discord", ""),
            ("Connect Slack?", "y"),
            ("Bot token (xoxb-...)?", SLACK_TOKEN),
            ("App-level token (xapp-...)", "xapp-1-wrong"),
            ("Slack does not accept the token", "1"),
            ("Bot token (xoxb-...)?", SLACK_TOKEN),
            ("App-level token (xapp-...)", APP_TOKEN),
            (f"Slack takes the token: U0BROOK001 in team {TEAM}", ""),
            ("Who is admin on Slack", ""),
            ("Memory now: in this gateway.", ""),
            ("Who talks to this gateway?", "@Me and others"),
            ("Which accounts on Telegram are yours?", ME),
            ("Which accounts on Discord are yours?", ""),
            ("Which accounts on Slack are yours?", f"{TEAM}:U0ADA"),
        )
        shown = await operator.answers("Save this? Type y or n; Enter means y.", "y")
        await operator.ends()
    assert contents(home.path) == expected(platforms, model.base_url)
    assert f"telegram:{ME}: now {ME}, then Ada" in shown
    assert f"telegram:{FRIEND}: {FRIEND}, as before" in shown
    assert f"slack:{TEAM}:U0ADA: now slack_{TEAM}_U0ADA, then Ada" in shown
    assert "are one person: Ada" in shown
    assert "TELEGRAM_BOT_TOKEN: the value (hidden)" in shown
    for secret in (TOKEN, DISCORD_TOKEN, SLACK_TOKEN, APP_TOKEN, "sk-house"):
        assert secret not in operator.raw + operator.result.getvalue()
    assert "\x1b" not in operator.raw
    result = json.loads(operator.result.getvalue())
    assert [file["path"] for file in result["files"]] == [
        str(path) for path in (home.env, home.honcho, home.config)
    ]
    assert "Discord, Slack" in result["next"][1]
    assert stat.S_IMODE(home.env.stat().st_mode) == 0o600


async def test_everything_from_a_file(home: Home, platforms: str, operator: Operator) -> None:
    async with ModelStub() as model:
        answers = {
            "name": "Ada",
            "model": {
                "source": "server",
                "base_url": model.base_url,
                "key": "sk-house",
                "name": "stub-model",
            },
            "platforms": {
                "telegram": {"token": TOKEN, "allow": [ME, FRIEND], "admins": [ME]},
                "discord": {"token": DISCORD_TOKEN},
                "slack": {"bot_token": SLACK_TOKEN, "app_token": APP_TOKEN},
            },
            "who": {
                "answer": "me-and-others",
                "my_ids": {"telegram": [ME], "slack": [f"{TEAM}:U0ADA"]},
            },
        }
        path = home.user / "answers.json"
        path.write_text(json.dumps(answers, indent=1))
        await operator.run("setup", "--answers", str(path), "--json")
        await operator.ends()
    assert operator.raw == ""
    assert contents(home.path) == expected(platforms, model.base_url)
    # the server of the model has gone meanwhile
    await operator.run("setup", "--answers", str(path), "--json")
    said = await operator.ends(2)
    assert "model.base_url: no server with OpenAI's API answers" in said
    assert contents(home.path) == expected(platforms, model.base_url)
