"""Messages that come while others are answered: joined, queued; edits beside them."""

from __future__ import annotations

import pytest

from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import House, mention, steps_of, user_rows


async def test_edits_are_recorded_and_never_answered(house: House) -> None:
    """H-20."""
    async with house.running():
        message = house.tg.say("helo", user=MIRA)
        await house.answers(1)
        house.tg.edit(message, "hello", chat=MIRA)
        house.tg.edit(message, "hello", chat=MIRA, edit_date=1)
        house.tg.say("still there?", user=MIRA)
        assert await house.answers(2) == ["re: helo", "re: still there?"]
        await house.settled()
    assert house.words() == ["helo", "still there?"]
    assert house.agent.runs[1].history == ["helo", "re: helo"]
    assert house.column("SELECT text FROM message WHERE role = 'edit'") == ["hello"] * 2
    assert house.rows("SELECT reason FROM inbox WHERE kind = 'edit'") == [("edited",)] * 2


async def test_an_edited_command_is_not_run(house: House) -> None:
    async with house.running():
        message = house.tg.say("hello", user=MIRA)
        await house.answers(1)
        house.tg.edit(message, "/new", chat=MIRA)
        await house.settled()
    assert house.texts() == ["re: hello"]
    assert [reason for _, _, reason in house.sessions()] == [""]


async def test_what_comes_while_the_agent_runs_is_joined_in_order(house: House) -> None:
    """H-21: no message is lost, each has its own row, time and key."""
    house.agent.hold()
    async with house.running():
        numbers = [house.tg.say("book a table", user=MIRA)]
        await house.runs(1)
        numbers += [house.tg.say(text, user=MIRA) for text in ("for four", "at eight", "no, nine")]
        await house.taken()
        house.agent.release()
        assert await house.answers(2) == ["re: book a table", "re: for four\nat eight\nno, nine"]
        house.tg.say("thanks", user=MIRA)
        await house.answers(3)
        await house.settled()
    said = [text for _, text in house.ledger()]
    assert house.agent.runs[2].history == said[:-2]
    assert [run.texts for run in house.agent.runs] == [
        ["book a table"],
        ["for four", "at eight", "no, nine"],
        ["thanks"],
    ]
    assert house.ledger("l.seq, m.text") == [
        (1, "book a table"),
        (2, "re: book a table"),
        (3, "for four"),
        (4, "at eight"),
        (5, "no, nine"),
        (6, "re: for four\nat eight\nno, nine"),
        (7, "thanks"),
        (8, "re: thanks"),
    ]
    assert len(set(house.column("SELECT message_id FROM ledger"))) == 8
    assert house.tg.answers(MIRA)[1]["reply_to_message"]["message_id"] == numbers[-1]
    assert ("ok", "3 messages joined") in steps_of(house, "admitted")


async def test_another_speaker_is_a_turn_of_their_own(house: House) -> None:
    """H-21: in a shared group only what one person says in a row is joined."""
    house.configure(conversations={"group_sessions": "shared"})
    house.agent.hold()
    said = [(MIRA, "one"), (MIRA, "two"), (TOBIAS, "three"), (MIRA, "four"), (MIRA, "five")]
    async with house.running():
        house.tg.say(mention("zero"), user=MIRA, chat=GROUP)
        await house.runs(1)
        for user, text in said:
            house.tg.say(mention(text), user=user, chat=GROUP)
        await house.taken()
        house.agent.release()
        await house.answers(4, GROUP)
        await house.settled()
    assert [run.texts for run in house.agent.runs] == [
        ["zero"],
        ["one", "two"],
        ["three"],
        ["four", "five"],
    ]
    mira, tobias = str(MIRA), str(TOBIAS)
    assert user_rows(house) == [
        (mira, "zero"),
        (mira, "one"),
        (mira, "two"),
        (tobias, "three"),
        (mira, "four"),
        (mira, "five"),
    ]


async def test_conversations_do_not_wait_for_one_another(house: House) -> None:
    """H-21."""
    house.agent.hold()
    async with house.running():
        house.tg.say("slow", user=MIRA)
        await house.runs(1)
        house.tg.say("beside", user=TOBIAS)
        await house.runs(2)
        house.agent.release()
        assert await house.answers(1, TOBIAS) == ["re: beside"]
        assert await house.answers(1) == ["re: slow"]


async def test_a_long_paste_is_one_turn(house: House) -> None:
    """H-22: the pieces come late and even while the settling time runs."""
    pieces = ["a" * 4096, "b" * 4096, "end"]
    async with house.running():
        for piece in pieces:
            house.tg.say(piece, user=MIRA)
            await house.taken()
        await house.answers(1)
        await house.settled()
    assert [run.texts for run in house.agent.runs] == [pieces]
    assert house.words() == pieces


async def test_a_paste_of_one_piece_is_answered_all_the_same(house: House) -> None:
    """H-22: the wait for more has a bound."""
    async with house.running():
        house.tg.say("a" * 4096, user=MIRA)
        await house.answers(1)
        await house.settled()
    assert house.agent.runs[0].texts == ["a" * 4096]


async def test_a_paste_of_two_people_is_two_turns(house: House) -> None:
    """H-22: parts of different people are never joined."""
    house.configure(conversations={"group_sessions": "shared"})
    async with house.running():
        house.tg.say(mention("a" * 4000), user=MIRA, chat=GROUP)
        house.tg.say(mention("between"), user=TOBIAS, chat=GROUP)
        house.tg.say(mention("b" * 80), user=MIRA, chat=GROUP)
        await house.answers(3, GROUP)
        await house.settled()
    assert [run.texts for run in house.agent.runs] == [["a" * 4000], ["between"], ["b" * 80]]


async def test_new_waits_for_its_place_and_the_answer_goes_to_its_own_session(
    house: House,
) -> None:
    house.agent.hold()
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.runs(1)
        house.tg.say("two", user=MIRA)
        house.tg.say("/new", user=MIRA)
        house.tg.say("three", user=MIRA)
        await house.taken()
        house.agent.release()
        await house.answers(4)
        await house.settled()
    assert [text.partition("?")[0] for text in house.texts()] == [
        "re: one",
        "re: two",
        "A fresh start. I still remember you; what would you like to talk about",
        "re: three",
    ]
    assert [run.history for run in house.agent.runs] == [[], ["one", "re: one"], []]
    [(first, _, why), (second, _, _)] = house.sessions()
    assert why == "new"
    assert house.ledger("s.id, l.seq, m.text") == [
        (first, 1, "one"),
        (first, 2, "re: one"),
        (first, 3, "two"),
        (first, 4, "re: two"),
        (second, 1, "three"),
        (second, 2, "re: three"),
    ]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_full_queue_is_said_once_and_takes_the_rest_up_again(
    house: House, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """H-21: bounded, and whoever is turned away knows."""
    monkeypatch.setattr("gateway.pipeline.intake.QUEUE_LIMIT", 3)
    house.agent.hold()
    async with house.running():
        house.tg.say("zero", user=MIRA)
        await house.runs(1)
        for number in range(1, 3):
            house.tg.say(f"kept {number}", user=MIRA)
        for number in range(count * 5):
            house.tg.say(f"turned away {number}", user=MIRA)
        await house.taken()
        [notice] = await house.answers(1)
        assert notice.startswith("You write faster than I can answer.")
        house.agent.release()
        await house.answers(3)
        house.tg.say("after", user=MIRA)
        await house.answers(4)
        await house.settled()
    assert house.words() == ["zero", "kept 1", "kept 2", "after"]
    assert house.reasons().count("queue_full") == count * 5
    assert house.texts()[1:] == ["re: zero", "re: kept 1\nkept 2", "re: after"]
    assert b"turned away" not in house.stored_bytes()
