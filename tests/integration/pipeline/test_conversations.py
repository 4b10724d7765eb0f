"""A message in, an answer out, once; and what belongs to which conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes.household import FORUM, GROUP, MIRA, OTHER_TOKEN, SMALL_GROUP, TOBIAS, TOKEN
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from tests.fakes.agent import ScriptedAgent


async def test_a_message_is_answered_and_both_reach_the_ledger(house: House) -> None:
    async with house.running():
        message = house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == ["re: hello"]
        await house.settled()
    [answer] = house.tg.answers(MIRA)
    assert answer["reply_to_message"]["message_id"] == message
    assert house.ledger("l.seq, m.role, l.peer, m.text, l.state") == [
        (1, "user", str(MIRA), "hello", "saved"),
        (2, "assistant", "hermes", "re: hello", "saved"),
    ]
    assert house.column("SELECT state FROM turn") == ["settled"]


async def test_a_redelivered_update_is_answered_once_also_over_a_restart(house: House) -> None:
    """H-15."""
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        house.tg.duplicate()
        await house.settled()
    async with house.running():
        house.tg.duplicate()
        house.tg.say("again", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert house.texts() == ["re: hello", "re: again"]
    assert house.words() == ["hello", "again"]
    assert [run.texts for run in house.agent.runs] == [["hello"], ["again"]]


async def test_a_redelivered_update_joins_nothing_while_its_turn_runs(house: House) -> None:
    """H-15: the copy comes while the slow model works."""
    house.agent.hold()
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        house.tg.duplicate()
        house.tg.duplicate()
        await house.taken()
        house.agent.release()
        await house.answers(1)
        await house.settled()
    assert house.texts() == ["re: hello"]
    assert house.words() == ["hello"]


async def test_equal_numbers_at_two_bots_are_different_messages(house: House) -> None:
    """H-19: each bot counts the messages of its private chats from one."""
    house.tokens(TOKEN, OTHER_TOKEN)
    house.tg.bot(OTHER_TOKEN, username="other_bot", name="Other")
    async with house.running():
        first = house.tg.say("to the first", user=MIRA, bot=TOKEN)
        second = house.tg.say("to the second", user=MIRA, bot=OTHER_TOKEN)
        assert first == second
        assert await house.answers(1, bot=TOKEN) == ["re: to the first"]
        assert await house.answers(1, bot=OTHER_TOKEN) == ["re: to the second"]
        await house.settled()
    assert len(house.sessions()) == 2
    assert {peer for _, peer, _ in house.sessions()} == {str(MIRA)}


async def test_direct_messages_never_share_a_session(house: House) -> None:
    """H-23."""
    async with house.running():
        house.tg.say("my PIN hint is blue", user=MIRA)
        await house.answers(1)
        house.tg.say("what did I just say?", user=TOBIAS)
        await house.answers(1, TOBIAS)
        await house.settled()
    assert house.agent.runs[1].history == []
    assert [peer for _, peer, _ in house.sessions()] == [str(MIRA), str(TOBIAS)]


@pytest.mark.parametrize(
    ("sharing", "histories", "peers"),
    [
        ("per-user", [[], [], ["one", "re: one"]], [str(MIRA), str(TOBIAS)]),
        ("shared", [[], ["one", "re: one"], ["one", "re: one", "two", "re: two"]], [None]),
    ],
)
async def test_a_group_is_one_session_or_one_for_each_person(
    house: House, sharing: str, histories: list[list[str]], peers: list[str | None]
) -> None:
    """H-23: what is said in one session is never shown in another."""
    house.configure(conversations={"group_sessions": sharing})
    async with house.running():
        for number, (user, text) in enumerate(
            [(MIRA, "one"), (TOBIAS, "two"), (MIRA, "three")], 1
        ):
            house.tg.say(mention(text), user=user, chat=GROUP)
            await house.answers(number, GROUP)
        await house.settled()
    assert [run.history for run in house.agent.runs] == histories
    assert [peer for _, peer, _ in house.sessions()] == peers
    assert [run.request.shared for run in house.agent.runs] == [sharing == "shared"] * 3
    said = house.ledger("l.peer, m.text")
    assert sorted(row for row in said if row[0] != "hermes") == [
        (str(MIRA), "one"),
        (str(MIRA), "three"),
        (str(TOBIAS), "two"),
    ]


async def test_a_direct_message_knows_nothing_of_the_group(house: House) -> None:
    """H-23."""
    async with house.running():
        house.tg.say(mention("in the group"), user=MIRA, chat=GROUP)
        await house.answers(1, GROUP)
        house.tg.say("in private", user=MIRA)
        await house.answers(1)
    assert house.agent.runs[1].history == []


async def test_a_reply_chain_is_no_topic(house: House) -> None:
    """H-24: in a group without topics a thread number means a chain of replies."""
    async with house.running():
        first = house.tg.say(mention("one"), user=MIRA, chat=GROUP)
        await house.answers(1, GROUP)
        for number, text in ((2, "two"), (3, "three")):
            house.tg.say(mention(text), user=MIRA, chat=GROUP, message_thread_id=first)
            await house.answers(number, GROUP)
        await house.settled()
    assert len(house.sessions()) == 1
    assert house.words() == ["one", "two", "three"]


async def test_a_topic_is_a_session_and_is_answered_in_the_topic(house: House) -> None:
    """H-24."""
    topic = house.tg.topic(FORUM, "Plans", user=MIRA)
    async with house.running():
        house.tg.say(mention("outside"), user=MIRA, chat=FORUM)
        await house.answers(1, FORUM)
        house.tg.say(mention("inside"), user=MIRA, chat=FORUM, thread=topic)
        [outside, inside] = await house.tg.wait_for(2, chat=FORUM)
        await house.settled()
    assert house.agent.runs[1].history == []
    assert len(house.sessions()) == 2
    assert inside["message_thread_id"] == topic
    assert "message_thread_id" not in outside


async def test_general_has_no_number(house: House, agent: ScriptedAgent) -> None:
    """H-25: with or without thread 1 it is the same session, answered in the group."""
    house.tg.group(FORUM, title="Forum", forum=True)
    async with house.running():
        house.tg.say(mention("one"), user=MIRA, chat=FORUM)
        await house.answers(1, FORUM)
        house.tg.say(
            mention("two"), user=MIRA, chat=FORUM, message_thread_id=1, is_topic_message=True
        )
        assert await house.answers(2, FORUM) == ["re: one", "re: two"]
        await house.settled()
    assert agent.runs[1].history == ["one", "re: one"]
    assert house.texts(MIRA) == []


@pytest.mark.parametrize("refusal", ["message thread not found", "TOPIC_CLOSED"])
async def test_a_topic_that_is_gone_is_answered_in_its_group(house: House, refusal: str) -> None:
    """H-25 c: never in a direct message, and the rest of the group is as open as before."""
    topic = house.tg.topic(FORUM, "Plans", user=MIRA)
    house.agent.hold()
    async with house.running():
        house.tg.say(mention("hello"), user=MIRA, chat=FORUM, thread=topic)
        await house.runs(1)
        house.tg.fail("sendMessage", 400, refusal)
        house.agent.release()
        assert await house.answers(1, FORUM) == ["re: hello"]
        await house.settled()
    assert house.texts(MIRA) == []
    assert house.column("SELECT degraded FROM outbox") == ["no-thread"]
    assert house.column("SELECT unreachable_at FROM place") == [None]


def _moves(house: House, new: int) -> list[dict[str, object]]:
    """Return the two notices of a group's move, each numbered in its own group."""
    facts: dict[str, object] = {"date": house.tg.messages(SMALL_GROUP)[0]["date"]}
    mira = {"id": MIRA, "is_bot": False, "first_name": "Mira"}
    old_chat = {"id": SMALL_GROUP, "title": "Family", "type": "group"}
    new_chat = {"id": new, "title": "Family", "type": "supergroup"}
    to_new = {"message_id": 90, "chat": old_chat, "migrate_to_chat_id": new}
    from_old = {"message_id": 1, "chat": new_chat, "migrate_from_chat_id": SMALL_GROUP}
    return [{"message": {**facts, "from": mira, **body}} for body in (to_new, from_old)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 0, 1, 1), (1, 1, 0, 0)])
async def test_a_group_that_moves_keeps_its_session(house: House, order: tuple[int, ...]) -> None:
    """H-28: both notices, in either order and twice; a list naming the old id keeps working."""
    new = -1005550004444
    async with house.running():
        house.tg.say(mention("hi"), user=MIRA, chat=SMALL_GROUP)
        await house.answers(1, SMALL_GROUP)
        await house.settled()
        notices = _moves(house, new)
        for each in order:
            house.tg.push(notices[each])
        await house.taken()
        house.tg.say(mention("still there?"), user=MIRA, chat=new)
        assert await house.answers(1, new) == ["re: still there?"]
        await house.settled()
    assert house.agent.runs[1].history == ["hi", "re: hi"]
    assert len(house.agent.runs) == 2
    assert [peer for _, peer, _ in house.sessions()] == [str(MIRA)]
    assert house.column("SELECT last_seq FROM session") == [4]


async def test_a_group_whose_notices_never_came_is_followed(house: House) -> None:
    """H-28: the refusal of an answer tells as well where the group is now."""
    house.agent.hold()
    async with house.running():
        house.tg.say(mention("one"), user=MIRA, chat=SMALL_GROUP)
        await house.runs(1)
        new = house.tg.migrate(SMALL_GROUP, told=False)
        house.agent.release()
        assert await house.answers(1, new) == ["re: one"]
        await house.settled()
        house.tg.say(mention("two"), user=MIRA, chat=new)
        assert await house.answers(2, new) == ["re: one", "re: two"]
        await house.settled()
    assert house.agent.runs[1].history == ["one", "re: one"]
    assert house.texts(SMALL_GROUP) == []


async def test_what_waits_for_a_moved_group_arrives_there_in_order(house: House) -> None:
    """H-28: a queued reply follows the group, and answers no message of the same number."""
    async with house.running():
        house.agent.hold()
        house.tg.say(mention("one"), user=MIRA, chat=SMALL_GROUP)
        await house.runs(1)
        house.tg.fail("sendMessage", 429, retry_after=20, chat=SMALL_GROUP)
        house.agent.release()
        await house.tg.wait_for_calls("sendMessage")
        new = house.tg.migrate(SMALL_GROUP)
        for number in range(5):
            house.tg.say(f"chatter {number}", user=TOBIAS, chat=new)
        house.tg.say(mention("two"), user=MIRA, chat=new)
        assert await house.answers(2, new) == ["re: one", "re: two"]
        await house.settled()
    first, second = house.tg.answers(new)
    assert "reply_to_message" not in first
    assert second["reply_to_message"]["text"] == mention("two")
    assert house.texts(SMALL_GROUP) == []
    assert house.column("SELECT state FROM outbox ORDER BY id") == ["delivered"] * 2
