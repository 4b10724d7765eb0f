"""The platform part of ``setup`` on homes that have one already, and platforms out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack.world import TOKEN as SLACK_TOKEN
from tests.emulators.telegram import TOKEN, TelegramEmulator
from tests.integration.setup.operator import contents

if TYPE_CHECKING:
    import pytest

    from gateway.settings.home import Home
    from tests.integration.setup.operator import Operator

AWAY = "platforms: {telegram: {base_url: 'http://127.0.0.1:9/bot', enabled: false}}\n"
BEGIN = (("Your name?", ""), ("Which model shall answer?", "1"))
END = (("Where shall memory be kept?", ""),)


async def test_a_platform_out_of_reach_can_be_saved_unasked(
    home: Home, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "999:other")
    home.path.mkdir(mode=0o700)
    home.config.write_text(AWAY)
    await operator.run("setup")
    heard = await operator.goes_through(
        *BEGIN,
        ("Connect Telegram?", "y"),
        ("Bot token? @BotFather gives one for /newbot What you type is not shown.", TOKEN),
        ("the connection to Telegram failed", "@Save it without having been asked"),
        ("Who may write to the bot on Telegram?", ""),
        ("Who is admin on Telegram", ""),
        ("Connect Discord?", ""),
        ("Connect Slack?", ""),
        *END,
        ("Who talks to this gateway?", "s"),
        ("Save this?", ""),
    )
    await operator.ends()
    assert "TELEGRAM_BOT_TOKEN is set in this process's environment" in heard[5]
    assert contents(home.path)[".env"] == f"TELEGRAM_BOT_TOKEN={TOKEN}\n"
    assert contents(home.path)["config.yaml"] == AWAY.replace("false", "auto")


async def test_a_connected_platform_keeps_its_token_and_gains_people(
    home: Home, operator: Operator
) -> None:
    async with TelegramEmulator() as tg:
        tg.bot(TOKEN)
        home.path.mkdir(mode=0o700)
        home.env.write_text(
            f"# bot\nTELEGRAM_BOT_TOKEN='{TOKEN}'  # mine\nTELEGRAM_ALLOWED_USERS=5\n"
        )
        before = contents(home.path)[".env"]
        config = (
            f"platforms: {{telegram: {{base_url: '{tg.base_url}'}}}}\naccess:\n  allow:\n"
            "    telegram:\n      - '7'  # seven\n  admins: telegram:7\n"
        )
        home.config.write_text(config)
        await operator.run("setup")
        await operator.goes_through(
            *BEGIN,
            ("Telegram is connected. Change that?", "y"),
            ("Bot token?", ""),
            ("gets a pairing code. Now: 5, 7.", "8, 5"),
            ("Now: telegram:7.", "8"),
            ("Connect Discord?", ""),
            ("Connect Slack?", ""),
            *END,
            ("Who talks to this gateway?", "s"),
            ("Save this?", ""),
        )
        await operator.ends()
    assert contents(home.path)[".env"] == before
    assert contents(home.path)["config.yaml"] == config.replace(
        "# seven\n  admins: telegram:7\n",
        '# seven\n      - "8"\n  admins: ["telegram:7", "telegram:8"]\n',
    )


async def test_slack_over_http_asks_for_the_signing_secret(home: Home, operator: Operator) -> None:
    async with SlackEmulator() as slack:
        slack.bot()
        home.path.mkdir(mode=0o700)
        home.config.write_text(
            f"platforms: {{slack: {{mode: http, base_url: '{slack.base_url}'}}}}\n"
        )
        await operator.run("setup")
        await operator.goes_through(
            *BEGIN,
            ("Connect Telegram?", ""),
            ("Connect Discord?", ""),
            ("Connect Slack?", "y"),
            ("Bot token (xoxb-...)?", "xoxb-1-gone"),
            ("Signing secret?", "sign"),
            ("Slack does not accept the token", "@Leave this platform as it was"),
            *END,
            ("Save this?", "n"),
        )
        await operator.ends()
        await operator.run("setup")
        await operator.goes_through(
            *BEGIN,
            ("Connect Telegram?", ""),
            ("Connect Discord?", ""),
            ("Connect Slack?", "y"),
            ("Bot token (xoxb-...)?", SLACK_TOKEN),
            ("Signing secret?", "sign"),
            ("Slack takes the token", "U0ADA"),
            ("Who is admin on Slack", ""),
            *END,
            ("Who talks to this gateway?", "s"),
            ("Save this?", ""),
        )
        await operator.ends()
    assert contents(home.path)[".env"] == (
        f"SLACK_BOT_TOKEN={SLACK_TOKEN}\nSLACK_SIGNING_SECRET=sign\n"
    )


async def test_all_that_is_wrong_with_a_file_is_named(home: Home, operator: Operator) -> None:
    answers = home.user / "answers.yaml"
    answers.write_text(
        "check: no\nmodle: {source: auto}\nplatforms:\n  telegram: {allow: [mira]}\n"
        "  slack: {bot_token: x}\nmemory: {place: cloud}\n"
    )
    await operator.run("setup", "--answers", str(answers))
    said = (await operator.ends(2)).splitlines()
    told = [line.partition(f"{answers}")[2] for line in said if line]
    assert told == [
        ":2: modle.source: unknown answer; did you mean model.source?",
        ": platforms.telegram.token: is missing; write an answer",
        ": platforms.slack.app_token: is missing; write an answer",
        ": memory.key: is missing; write an answer",
    ]
    assert not home.path.exists()
