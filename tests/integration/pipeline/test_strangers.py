"""Who is let in and what is ours; nothing of anybody else ever reaches the disk."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.errors import ConfigurationError
from tests.fakes.household import BOT, GROUP, MIRA, STRANGER, TOBIAS
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from collections.abc import Callable

#: in each text, name, file name and payload of a stranger
CANARY = "Xylophonwald"

ELSEWHERE = -1007770001112


def _message(**content: Any) -> dict[str, Any]:
    sender = {"id": STRANGER, "is_bot": False, "first_name": CANARY, "language_code": "en"}
    chat = {"id": STRANGER, "type": "private", "first_name": CANARY}
    return {"message_id": 77, "from": sender, "chat": chat, "date": int(time.time()), **content}


def _photo(house: House) -> None:
    photo = [{"file_id": CANARY, "file_unique_id": "u", "width": 1, "height": 1}]
    house.tg.say(CANARY, user=STRANGER, photo=photo)


def _edit(house: House) -> None:
    house.tg.push({"edited_message": _message(text=CANARY, edit_date=int(time.time()))})


def _reaction(house: House) -> None:
    message = _message()
    reaction = {
        "chat": message["chat"],
        "message_id": 5,
        "user": message["from"],
        "from": message["from"],
        "date": message["date"],
        "old_reaction": [],
        "new_reaction": [{"type": "emoji", "emoji": "👍"}],
    }
    house.tg.push({"message_reaction": reaction})


def _callback(house: House) -> None:
    message = _message(text=CANARY)
    button = {"id": "1", "from": message["from"], "chat_instance": "1", "data": CANARY}
    house.tg.push({"callback_query": {**button, "message": message}})


EVENTS: dict[str, Callable[[House], object]] = {
    "text": lambda house: house.tg.say(CANARY, user=STRANGER),
    "command": lambda house: house.tg.say(f"/title {CANARY}", user=STRANGER),
    "approve": lambda house: house.tg.say(f"/approve {CANARY}", user=STRANGER),
    "edit": _edit,
    "photo": _photo,
    "reaction": _reaction,
    "callback": _callback,
    "group text": lambda house: house.tg.say(mention(CANARY), user=STRANGER, chat=GROUP),
    "group command": lambda house: house.tg.say(
        f"/title@gate_bot {CANARY}", user=STRANGER, chat=GROUP
    ),
    "unserved group": lambda house: house.tg.say(mention(CANARY), user=MIRA, chat=ELSEWHERE),
    "unaddressed": lambda house: house.tg.say(CANARY, user=MIRA, chat=GROUP),
    "forward": lambda house: house.tg.say(
        CANARY, user=STRANGER, forward_origin={"type": "hidden_user", "sender_user_name": CANARY}
    ),
}


@pytest.mark.parametrize("pairing", [True, False])
@pytest.mark.parametrize("event", EVENTS)
async def test_nothing_of_a_stranger_is_stored(house: House, event: str, pairing: bool) -> None:
    """H-40: no answer but a code, no agent, no peer, and not one word on the disk."""
    house.configure(access={"pairing": pairing})
    house.tg.user(STRANGER, first_name=CANARY, last_name=CANARY, username=CANARY)
    EVENTS[event](house)  # before the bot says which kinds of updates it wants
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        EVENTS[event](house)
        await house.settled()
        assert CANARY.encode() not in house.stored_bytes()
        await gateway.store.read(lambda conn: None)
    assert CANARY.encode() not in house.stored_bytes()
    assert [run.texts for run in house.agent.runs] == [["hello"]]
    assert house.column("SELECT user_id FROM person") == [str(MIRA)]
    assert house.column("SELECT count(*) FROM conversation") == [1]
    assert house.texts(GROUP) == []
    codes = [text for text in house.texts(STRANGER) if "code" in text]
    assert house.texts(STRANGER) == codes
    assert len(codes) <= pairing


@pytest.mark.parametrize("allow", [{"telegram": []}, {}])
async def test_an_empty_list_serves_nobody(house: House, allow: dict[str, Any]) -> None:
    """H-40."""
    house.configure(access={"allow": allow, "pairing": False})
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.silence()
    assert house.agent.runs == []


@pytest.mark.parametrize("allow", [{"telegram": [""]}, {"telegram": ["*"]}, {"telegram": [True]}])
async def test_a_list_of_nonsense_does_not_start(house: House, allow: dict[str, Any]) -> None:
    """H-40: it never means everybody."""
    house.configure(access={"allow": allow})
    with pytest.raises(ConfigurationError, match=r"access\.allow"):
        house.assemble()


async def test_open_access_needs_its_own_switch(house: House) -> None:
    """H-40."""
    house.configure(access={"allow_all": {"telegram": True}})
    async with house.running():
        house.tg.say("hello", user=STRANGER)
        assert await house.answers(1, STRANGER) == ["re: hello"]


async def test_an_open_place_lets_every_member_talk_there_only(house: House) -> None:
    house.configure(access={"open_places": {"telegram": [str(GROUP)]}, "pairing": False})
    async with house.running():
        house.tg.say(mention("hello"), user=STRANGER, chat=GROUP)
        assert await house.answers(1, GROUP) == ["re: hello"]
        house.tg.say("hello", user=STRANGER)
        await house.settled()
    assert house.texts(STRANGER) == []


# --- was the bot spoken to ------------------------------------------------------------------


def _said(text: str, **raw: Any) -> Callable[[House], object]:
    return lambda house: house.tg.say(text, user=MIRA, chat=GROUP, **raw)


def _text_mention(house: House) -> object:
    entity = {"type": "text_mention", "offset": 0, "length": 4, "user": {"id": BOT}}
    entity["user"] = {"id": BOT, "is_bot": True, "first_name": "Gate"}
    return house.tg.say("Gate hi", user=MIRA, chat=GROUP, entities=[entity])


def _caption(house: House) -> object:
    stored = house.tg.file(b"\x89PNG\r\n\x1a\n", name="a.png")
    photo = [{**stored, "width": 1, "height": 1}]
    return house.tg.say(mention("hi"), user=MIRA, chat=GROUP, photo=photo)


def _reply_to(author: int) -> Callable[[House], object]:
    def say(house: House) -> object:
        sender = {"id": author, "is_bot": author == BOT, "first_name": "Somebody"}
        answered = {**_message(), "from": sender, "chat": {"id": GROUP, "type": "supergroup"}}
        answered |= {"message_id": 7, "text": "earlier words"}
        return house.tg.say("hi", user=MIRA, chat=GROUP, reply_to_message=answered)

    return say


ADDRESSED: dict[str, tuple[Callable[[House], object], list[str]]] = {
    "hi all": (_said("hi all"), []),
    "mention": (_said("@gate_bot hi"), ["hi"]),
    "mention in another case": (_said("@Gate_Bot hi"), ["hi"]),
    "a longer name": (_said("@gate_bot2 hi"), []),
    "an address": (_said("mail me a@gate_bot.example"), []),
    "reply": (_reply_to(BOT), ["hi"]),
    "reply to another": (_reply_to(TOBIAS), []),
    "text mention": (_text_mention, ["hi"]),
    "caption": (_caption, ["hi"]),
    "everyone": (_said("@everyone hi"), []),
    "after an emoji": (_said("👩‍👩‍👧 @gate_bot hi"), ["👩‍👩‍👧 hi"]),
    "once": (_said("@gate_bot say @gate_bot"), ["say @gate_bot"]),
}


@pytest.mark.parametrize("case", ADDRESSED)
async def test_in_a_group_the_bot_answers_when_it_is_spoken_to(house: House, case: str) -> None:
    """H-44: the mention goes, once, and nothing else."""
    say, texts = ADDRESSED[case]
    async with house.running():
        say(house)
        await house.settled()
        assert len(house.texts(GROUP)) == len(texts)
    assert [text for run in house.agent.runs for text in run.texts] == texts
    assert house.words() == texts
    if not texts:
        assert house.reasons() == ["unaddressed"]


@pytest.mark.parametrize(
    "conversations",
    [{"require_mention": False}, {"free_response": [str(GROUP)]}],
)
async def test_a_group_can_be_free_of_mentions(
    house: House, conversations: dict[str, Any]
) -> None:
    """H-44."""
    house.configure(conversations=conversations)
    async with house.running():
        house.tg.say("hi all", user=MIRA, chat=GROUP)
        assert await house.answers(1, GROUP) == ["re: hi all"]


async def test_other_bots_and_anonymous_admins_are_silent(house: House) -> None:
    """H-07, H-43: no person speaks, so nobody is remembered and nobody is answered."""
    house.configure(access={"open_places": {"telegram": [str(GROUP)]}})
    bot = {"id": 999, "is_bot": True, "first_name": CANARY, "username": "third_bot"}
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    channel = {"id": -100777, "type": "channel", "title": CANARY}
    group = {"id": GROUP, "type": "supergroup", "title": "Group"}
    async with house.running():
        extra: dict[str, Any] = {"from": bot}
        house.tg.say(mention(CANARY), user=999, chat=GROUP, **extra)
        for sender_chat in (group, channel):
            extra = {"from": anonymous, "sender_chat": sender_chat}
            house.tg.say(mention(CANARY), user=1, chat=GROUP, **extra)
        await house.silence()
    assert house.agent.runs == []
    assert house.reasons() == ["bot", "service_sender", "service_sender"]
    assert CANARY.encode() not in house.stored_bytes()


async def test_refusals_are_audited_once_a_day_for_each_reason(house: House) -> None:
    house.configure(access={"pairing": False})
    async with house.running():
        for _ in range(3):
            house.tg.say("let me in", user=STRANGER)
        house.tg.say("hello all", user=MIRA, chat=ELSEWHERE)
        await house.silence()
    assert house.audited() == [("access.refused", "gateway", "")] * 2
    told = house.column("SELECT detail FROM audit ORDER BY id")
    assert [json.loads(each)["reason"] for each in told] == ["stranger", "place"]
    assert str(STRANGER) not in str(told)
