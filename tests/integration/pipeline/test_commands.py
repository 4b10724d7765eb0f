"""Slash commands: what each says, and that none of them is ever taken for words."""

from __future__ import annotations

import pytest

from gateway.text import catalog
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import House, mention


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("/start", "Hello! Write to me as you would to a person"),
        ("/help", "Just write to me, or use one of these:"),
        ("/new", "This conversation is already new."),
        ("/stop", "I am not writing anything at the moment."),
        ("/status", "• Model: test:script\n• Nothing is waiting for an answer."),
        ("/whoami", f"On telegram you are {MIRA}.\nWhat I remember of you is kept under"),
        ("/trace", "There is nothing to trace in this conversation yet."),
        ("/title", "This conversation has no title yet."),
        ("/title   ", "This conversation has no title yet."),
        ("/title \u200b", "This conversation has no title yet."),
        ("/title Our garden", "This conversation is now called “Our garden”."),
        ("/approve ABCDEFGH", "Only an admin of this gateway may use that command."),
        ("/deny ABCDEFGH", "Only an admin of this gateway may use that command."),
        ("/who", "Only an admin of this gateway may use that command."),
        ("/frobnicate", "I do not know the command /frobnicate."),
        ("/NEW@Gate_Bot", "This conversation is already new."),
    ],
)
async def test_a_command_is_answered_and_is_no_message(
    house: House, command: str, answer: str
) -> None:
    async with house.running():
        house.tg.say(command, user=MIRA)
        [text] = await house.answers(1)
        house.tg.say("hello", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert text.startswith(answer), text
    assert [run.texts for run in house.agent.runs] == [["hello"]]
    assert house.agent.runs[0].history == []
    assert house.words() == ["hello"]


async def test_help_names_every_command_that_everybody_may_use(house: House) -> None:
    async with house.running():
        house.tg.say("/help", user=MIRA)
        [text] = await house.answers(1)
        await house.tg.wait_for_calls("setMyCommands")
    named = [line.split()[0].removeprefix("/") for line in text.splitlines() if line[:1] == "/"]
    [menu] = house.tg.calls_of("setMyCommands")
    assert named == [each["command"] for each in menu.args["commands"]]
    first = ["start", "help", "new", "stop", "status", "whoami", "trace", "title"]
    assert named == [*first, "link", "unlink", "forget", "export", "memory", "search"]


@pytest.mark.parametrize(("language", "first"), [("ru", "ru"), ("auto", "en"), ("zh", "zh")])
async def test_the_menu_speaks_the_gateways_language(
    house: House, language: str, first: str
) -> None:
    house.configure(language=language)
    async with house.running():
        [menu] = await house.tg.wait_for_calls("setMyCommands")
    shown = {each["command"]: each["description"] for each in menu.args["commands"]}
    assert shown["stop"] == catalog.text("cmd.stop", first)
    assert not {"approve", "deny", "who"} & shown.keys()


async def test_commands_speak_the_language_of_the_person(house: House) -> None:
    house.tg.user(MIRA, language_code="ru-RU")
    async with house.running():
        house.tg.say("/stop", user=MIRA)
        [text] = await house.answers(1)
    assert text == catalog.text("stop.nothing", "ru")


@pytest.mark.parametrize("text", ["/new@other_bot", "/help@other_bot"])
async def test_a_command_for_another_bot_is_silent(house: House, text: str) -> None:
    """H-45: neither run nor passed to the model, in a group and alone."""
    async with house.running():
        house.tg.say(text, user=MIRA, chat=GROUP)
        house.tg.say(text, user=MIRA)
        await house.silence()
    assert house.agent.runs == []
    assert house.reasons() == ["foreign_command"] * 2
    assert b"other_bot" not in house.stored_bytes()


@pytest.mark.parametrize("text", ["text /new", "//new", "/ new", "/etc/hosts"])
async def test_what_only_looks_like_a_command_is_text(house: House, text: str) -> None:
    """H-45."""
    async with house.running():
        house.tg.say(text, user=MIRA)
        assert await house.answers(1) == [f"re: {text}"]
        await house.settled()
    assert house.words() == [text]


async def test_commands_in_a_group_need_no_mention_and_obey_the_access_list(house: House) -> None:
    """H-45."""
    async with house.running():
        house.tg.say("/new@gate_bot", user=700999999, chat=GROUP)
        house.tg.say("/whoami@gate_bot", user=TOBIAS, chat=GROUP)
        [text] = await house.answers(1, GROUP)
        await house.settled()
    assert str(TOBIAS) in text
    assert len(house.tg.answers(GROUP)) == 1


async def test_a_redelivered_command_runs_once(house: House) -> None:
    """H-15: the copy of a command is a copy like any other."""
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        house.tg.say("/new", user=MIRA)
        await house.answers(2)
        house.tg.duplicate()
        await house.settled()
    async with house.running():
        house.tg.duplicate()
        house.tg.say("again", user=MIRA)
        await house.answers(3)
        await house.settled()
    assert len(house.texts()) == 3
    assert len(house.sessions()) == 2


async def test_title_names_the_conversation_for_people_only(house: House) -> None:
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        house.tg.say("/title Our *garden* [x]", user=MIRA)
        await house.answers(2)
        house.tg.say("/title", user=MIRA)
        assert (await house.answers(3))[2] == "This conversation is called “Our *garden* (x)”."
        house.tg.say("more", user=MIRA)
        await house.answers(4)
        house.tg.say("/status", user=MIRA)
        status = (await house.answers(5))[4]
        await house.settled()
    [(session, _, _)] = house.sessions()
    assert status.splitlines() == [
        "• Model: test:script",
        "• Nothing is waiting for an answer.",
        f"• Memory: on, session {session}",
        "• Conversation: Our *garden* (x)",
    ]


async def test_status_counts_what_waits(house: House) -> None:
    house.model = ""
    house.agent.hold()
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.runs(1)
        house.tg.say("two", user=MIRA)
        await house.taken()
        house.tg.say("/status", user=MIRA)
        [text] = await house.answers(1)
        house.agent.release()
    assert text.splitlines()[:2] == [
        "• Model: none yet (set-up mode)",
        "• 2 messages are waiting for an answer.",
    ]


async def test_trace_shows_the_last_turn_of_whoever_asks(house: House) -> None:
    """In a shared group nobody sees another person's turn."""
    house.configure(conversations={"group_sessions": "shared"})
    async with house.running():
        for number, user in enumerate((MIRA, TOBIAS), 1):
            house.tg.say(mention("a secret"), user=user, chat=GROUP)
            await house.answers(number, GROUP)
        await house.settled()
        house.tg.say("/trace@gate_bot", user=MIRA, chat=GROUP)
        text = (await house.answers(3, GROUP))[2]
    turns = house.column("SELECT id FROM turn ORDER BY created_at")
    assert text.startswith(f"Turn {turns[0]}: done")
    assert f"Filed under {MIRA} (rule: raw)" in text
    for step in ("received: ok", "identified: ok", "run: started", "delivered: delivered part 1"):
        assert step in text
    assert "Part 1 of the answer: delivered" in text
    assert "Your words at memory: " in text
    assert "a secret" not in text


async def test_whoami_tells_an_admin_so(house: House) -> None:
    house.configure(access={"admins": [f"telegram:{TOBIAS}"]})
    house.honcho(userPeerAliases={str(TOBIAS): "toby"})
    async with house.running():
        house.tg.say("/whoami", user=TOBIAS)
        [text] = await house.answers(1, TOBIAS)
    assert text.splitlines() == [
        f"On telegram you are {TOBIAS}.",
        "What I remember of you is kept under the name toby.",
        "The operator has tied this account to that name. "
        f'The record: userPeerAliases["{TOBIAS}"].',
        "Rules tried, in order: unattributed –, pin –, alias ✓.",
        "You are an admin of this gateway.",
    ]


async def test_a_turn_of_ones_own_is_traced_by_its_id_and_nobody_elses(house: House) -> None:
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        house.tg.say("hi", user=TOBIAS)
        await house.answers(1, TOBIAS)
        await house.settled()
        mine, other = house.column("SELECT id FROM turn ORDER BY created_at")
        house.tg.say(f"/trace {mine}", user=MIRA)
        assert (await house.answers(2))[1].startswith(f"Turn {mine}: done")
        house.tg.say(f"/trace {other}", user=MIRA)
        assert f"You have no turn {other}." in (await house.answers(3))[2]
        house.tg.say("/whoami", user=MIRA)
        assert "That has been so since " in (await house.answers(4))[3]
