"""Was the bot named, and what is left of the text: by entities, never by searching."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.telegram.parse import parse
from adapters.telegram.words import Me
from gateway.model.events import Command, EventKind
from gateway.model.ids import AccountId
from tests.unit.telegram.updates import ANN, DIRECT, GATE, GROUP, ME, entity, message, read, said


@pytest.mark.parametrize(
    ("text", "marked", "kind", "left"),
    [
        ("@gate_bot hi", "@gate_bot", "mention", "hi"),
        ("@Gate_Bot hi", "@Gate_Bot", "mention", "hi"),
        ("hi @gate_bot", "@gate_bot", "mention", "hi"),
        ("hi @gate_bot there", "@gate_bot", "mention", "hi there"),
        ("hi @gate_bot, there", "@gate_bot", "mention", "hi , there"),
        ("(@gate_bot)", "@gate_bot", "mention", "()"),
        ("@gate_bot", "@gate_bot", "mention", ""),
        ("@gate_bot\nhi", "@gate_bot", "mention", "hi"),
        ("a\n@gate_bot\nb", "@gate_bot", "mention", "a\nb"),
        ("@gate_bot  two blanks", "@gate_bot", "mention", " two blanks"),
        ("👨‍👩‍👧 𝔊 @gate_bot go", "@gate_bot", "mention", "👨‍👩‍👧 𝔊 go"),
        ("Gate, hi", "Gate", "text_mention", ", hi"),
    ],
)
def test_a_mention_is_taken_out_once(text: str, marked: str, kind: str, left: str) -> None:
    """H-44."""
    extra = {"user": GATE} if kind == "text_mention" else {}
    event = said(text, entities=[entity(text, marked, kind, **extra)])
    assert (event.text, event.mentions_bot) == (left, True)


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("hi all", []),
        ("@gate_bot2 hi", [entity("@gate_bot2 hi", "@gate_bot2")]),
        ("a@gate_bot.example", [entity("a@gate_bot.example", "a@gate_bot.example", "email")]),
        ("@everyone", [entity("@everyone", "@everyone")]),
        ("`@gate_bot` unmarked", [entity("`@gate_bot` unmarked", "@gate_bot", "code")]),
        ("Ann hi", [entity("Ann hi", "Ann", "text_mention", user=ANN)]),
        ("no user", [entity("no user", "no", "text_mention")]),
        ("😀 half", [{"type": "mention", "offset": 1, "length": 3}]),
        ("beyond", [{"type": "mention", "offset": 4, "length": 90}]),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_mention_stays(text: str, entities: list[Any]) -> None:
    event = said(text, entities=entities)
    assert (event.text, event.mentions_bot) == (text, False)


def test_only_the_first_of_several_mentions_goes() -> None:
    text = "@gate_bot say @gate_bot"
    second = {"type": "mention", "offset": 14, "length": 9}
    event = said(text, entities=[entity(text, "@gate_bot"), second])
    assert event.text == "say @gate_bot"


def test_a_mention_in_a_caption_counts() -> None:
    text = "look @gate_bot here"
    photo = [{"file_id": "a", "width": 1, "height": 1}]
    caption = message(
        GROUP, photo=photo, caption=text, caption_entities=[entity(text, "@gate_bot")]
    )
    event = read(caption)
    assert (event.text, event.mentions_bot) == ("look here", True)


def test_a_bot_without_username_is_not_mentioned_by_a_bare_sign() -> None:
    text = "@ hi"
    update = {"update_id": 1, "message": message(GROUP, text=text, entities=[entity(text, "@")])}
    assert not parse(update, me=Me(AccountId("123456"), "")).mentions_bot


@pytest.mark.parametrize(
    ("text", "command", "foreign"),
    [
        ("/new", Command("new"), False),
        ("/new@gate_bot", Command("new"), False),
        ("/NEW@Gate_Bot", Command("new"), False),
        ("/new@other_bot", None, True),
        ("/new@gate_bot extra words", Command("new", "extra words"), False),
        ("text /new", None, False),
        ("//new", None, False),
    ],
)
def test_commands_in_groups(text: str, command: Command | None, foreign: bool) -> None:
    """H-45."""
    event = said(text)
    assert (event.command, event.foreign_command) == (command, foreign)


def test_a_command_may_follow_the_mention() -> None:
    event = said("@gate_bot /new", entities=[entity("@gate_bot /new", "@gate_bot")])
    assert event.command == Command("new")


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\0b", "ab"),
        ("ok \ud83d", "ok \ufffd"),
        ("\udc97 cp1252", "\ufffd cp1252"),
        ("\r\n \x1b[31mred", "\r\n \x1b[31mred"),
    ],
)
def test_text_from_outside_is_cleaned_at_intake(raw: str, clean: str) -> None:
    """H-51: the text, names, file names, quoted and forwarded words alike."""
    person = {**ANN, "first_name": raw, "last_name": "x"}
    answered = message(DIRECT, message_id=9, text=raw, **{"from": person})
    event = read(
        message(
            {**GROUP, "title": raw},
            text=raw,
            reply_to_message=answered,
            quote={"text": raw},
            document={"file_id": "d", "file_name": raw},
            **{"from": person},
        )
    )
    assert event.reply is not None
    assert [event.text, event.reply.text, event.reply.quote] == [clean] * 3
    assert event.place.title == event.attachments[0].name == clean.strip()
    assert event.sender.name == event.reply.author == f"{clean.strip()} x".strip()
    forwarded = read(
        message(text=raw, forward_origin={"type": "hidden_user", "sender_user_name": raw})
    )
    assert forwarded.forward is not None
    assert (forwarded.forward.text, forwarded.forward.author) == (clean, clean.strip())


def test_offsets_count_the_text_before_it_is_cleaned() -> None:
    text = "\0\0 @gate_bot hi"
    event = said(text, entities=[entity(text, "@gate_bot")])
    assert (event.text, event.mentions_bot) == (" hi", True)


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\0"])
def test_an_empty_message_is_still_a_message(text: str) -> None:
    """H-33: it claims its key and the pipeline decides that there is nothing to answer."""
    event = said(text)
    assert event.kind is EventKind.MESSAGE
    assert event.account == ME.account
