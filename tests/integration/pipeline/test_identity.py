"""Whose memory a message goes to, also while the settings change under the running gateway."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.ops.logs import Redactor
from gateway.people import Author
from tests.fakes.household import FORUM, GROUP, MIRA, STRANGER, TOBIAS
from tests.integration.pipeline.support import House, mention, user_rows

if TYPE_CHECKING:
    from gateway.app import Gateway


async def reloaded(house: House, gateway: Gateway, before: object) -> None:
    """Wait until the running gateway follows an edit; it has two seconds."""
    await house.until(lambda: gateway.current.rules is not before, "reload", timeout=2.0)


async def test_a_pin_beats_every_alias(house: House) -> None:
    house.honcho(pinUserPeer=True, peerName="mira", userPeerAliases={str(TOBIAS): "toby"})
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.answers(1)
        house.tg.say("two", user=TOBIAS)
        await house.answers(1, TOBIAS)
        await house.settled()
    assert user_rows(house) == [("mira", "one"), ("mira", "two")]


async def test_an_edit_is_audited_by_the_names_of_its_settings(house: House) -> None:
    async with house.running():
        house.honcho(userPeerAliases={str(MIRA): "mira"}, peerName="secret-name")
        await house.until(lambda: house.audited("settings"), "audited", timeout=15.0)
    assert house.audited("settings") == [("settings.changed", "file", "settings")]
    [detail] = house.column("SELECT detail FROM audit WHERE action = 'settings.changed'")
    assert json.loads(detail) == {"keys": ["honcho.peerName", "honcho.userPeerAliases"]}


async def test_removing_the_pin_leaves_what_was_said_where_it_is(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    """H-08 d: new turns go to the account's own peer, in a session of their own."""
    house.honcho(pinUserPeer=True, peerName="mira")
    async with house.running():
        for number in range(1, 4):
            house.tg.say(f"old {number}", user=MIRA)
            await house.answers(number)
        await house.settled()
    old = house.ledger("l.message_id, s.id, l.seq, l.peer, l.state")
    assert "identity.edited" not in capsys.readouterr().err
    house.honcho(pinUserPeer=False, peerName="mira")
    async with house.running():
        house.tg.say("new", user=MIRA)
        await house.answers(4)
        await house.settled()
    [said] = [line for line in capsys.readouterr().err.splitlines() if "identity.edited" in line]
    assert json.loads(said)["keys"] == ["pinUserPeer"]
    assert house.ledger("l.message_id, s.id, l.seq, l.peer, l.state")[:6] == old
    assert user_rows(house)[-1] == (str(MIRA), "new")
    [(_, first, why), (_, second, _)] = house.sessions()
    assert (first, why, second) == ("mira", "identity", str(MIRA))
    assert house.agent.runs[-1].history == []
    assert house.column("SELECT last_seq FROM session ORDER BY opened_at, rowid") == [6, 2]


async def test_an_alias_keeps_continuity_when_the_pin_goes(house: House) -> None:
    """H-08 e."""
    house.honcho(pinUserPeer=True, peerName="mira")
    async with house.running():
        house.tg.say("old", user=MIRA)
        await house.answers(1)
        await house.settled()
    house.honcho(pinUserPeer=False, peerName="mira", userPeerAliases={str(MIRA): "mira"})
    async with house.running():
        house.tg.say("new", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert user_rows(house) == [("mira", "old"), ("mira", "new")]
    assert len(house.sessions()) == 1
    assert house.agent.runs[-1].history == ["old", "re: old"]


async def test_a_turn_keeps_the_identity_it_began_with(house: House) -> None:
    """Frozen at the claim; the next turn follows the edit and opens a session of its own."""
    house.agent.hold()
    async with house.running() as gateway:
        house.tg.say("one", user=MIRA)
        await house.runs(1)
        before = gateway.current.rules
        house.honcho(userPeerAliases={str(MIRA): "mira"})
        await reloaded(house, gateway, before)
        house.tg.say("two", user=MIRA)
        await house.taken()
        house.agent.release()
        await house.answers(2)
        await house.settled()
    assert user_rows(house) == [(str(MIRA), "one"), ("mira", "two")]
    [(first, _, why), (second, _, _)] = house.sessions()
    assert why == "identity"
    assert house.ledger("s.id, m.text") == [
        (first, "one"),
        (first, "re: one"),
        (second, "two"),
        (second, "re: two"),
    ]


async def test_a_turn_taken_up_by_the_next_process_keeps_its_identity(house: House) -> None:
    house.agent.hold()
    async with house.running() as gateway:
        house.tg.say("one", user=MIRA)
        await house.runs(1)
        await gateway.engine.stop(0)
    house.honcho(userPeerAliases={str(MIRA): "mira"})
    house.agent.release()
    async with house.running():
        await house.answers(1)
        await house.settled()
    assert user_rows(house) == [(str(MIRA), "one")]


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ('{"userPeerAliases": {"700100200": "mira",}}', "honcho.json"),
        ('{"pinUserPeer": "treu"}', "pinUserPeer"),
        ("", "honcho.json"),
    ],
)
async def test_a_bad_edit_keeps_the_last_good_rules(
    house: House, capsys: pytest.CaptureFixture[str], bad: str, complaint: str
) -> None:
    house.honcho(userPeerAliases={str(MIRA): "mira"})
    async with house.running() as gateway:
        house.tg.say("watching?", user=MIRA)
        await house.answers(1)
        before = gateway.current.rules
        (house.home.path / "honcho.json").write_text(bad)
        told = ""

        def said() -> bool:
            nonlocal told
            told += capsys.readouterr().err
            return "settings.kept" in told or gateway.current.rules is not before

        await house.until(said, "the edit is noticed", timeout=2.0)
        house.tg.say("hello", user=MIRA)
        await house.answers(2)
        assert complaint in told
        assert gateway.current.rules is before
        house.honcho(userPeerAliases={str(MIRA): "wise"})
        await reloaded(house, gateway, before)
        house.tg.say("again", user=MIRA)
        await house.answers(3)
        await house.settled()
    assert user_rows(house)[1:] == [("mira", "hello"), ("wise", "again")]


async def test_access_follows_an_edit_without_a_restart(house: House) -> None:
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        before = gateway.current.rules
        house.configure(access={"allow": {"telegram": [str(TOBIAS)]}, "pairing": False})
        await reloaded(house, gateway, before)
        house.tg.say("hello?", user=MIRA)
        await house.settled()
        assert len(house.texts()) == 1
        before = gateway.current.rules
        house.configure()
        await reloaded(house, gateway, before)
        house.tg.say("hello!", user=MIRA)
        await house.answers(2)


@pytest.mark.parametrize(
    ("sharing", "place"), [("per-user", GROUP), ("shared", GROUP), ("per-user", FORUM)]
)
async def test_a_sender_that_cannot_be_read_is_nobody(
    house: House, sharing: str, place: int
) -> None:
    """H-07: never the owner, also when everybody is pinned; and it is no private talk."""
    house.configure(
        access={"open_places": {"telegram": [str(place)]}},
        conversations={"group_sessions": sharing},
    )
    house.honcho(pinUserPeer=True, peerName="mira")
    extra: dict[str, Any] = {"from": None}
    async with house.running():
        house.tg.say(mention("I am vegan"), user=MIRA, chat=place, **extra)
        await house.settled()
        house.tg.say(mention("and I am not"), user=MIRA, chat=place)
        await house.settled()
    [(nobody, first), (owner, second)] = user_rows(house)
    assert re.fullmatch("anon-telegram-[0-9a-f]{8}", nobody)
    assert (first, owner, second) == ("I am vegan", "mira", "and I am not")
    assert house.agent.runs[0].request.shared
    if sharing == "per-user":
        assert house.agent.runs[1].history == []


async def test_equal_digits_with_an_alias_for_the_agent_stay_apart(house: House) -> None:
    """A person whose name would be the agent's gets another."""
    house.honcho(aiPeer=str(MIRA))
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
    [(user,), (agent,)] = house.ledger("l.peer")
    assert agent == str(MIRA)
    assert re.fullmatch(rf"{MIRA}-[0-9a-f]{{8}}", user)


async def test_a_renamed_person_is_the_same_person(house: House) -> None:
    """H-10: names and handles are never identity."""
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.answers(1)
        house.tg.user(MIRA, first_name="Queen", username="tobias")
        house.tg.say("two", user=MIRA)
        await house.answers(2)
        house.tg.user(STRANGER, first_name="Mira", username=f"user_{MIRA}")
        house.tg.say("let me in", user=STRANGER)
        await house.settled()
    assert user_rows(house) == [(str(MIRA), "one"), (str(MIRA), "two")]
    assert house.column("SELECT name FROM person") == ["Queen"]


@pytest.mark.parametrize(
    ("keys", "states"),
    [
        ({"saveMessages": False}, [("skipped", "saveMessages")] * 2),
        ({"userMemoryMode": "local"}, [("skipped", "userMemoryMode"), ("saved", "")]),
        ({"agentMemoryMode": "local"}, [("saved", ""), ("skipped", "agentMemoryMode")]),
    ],
)
async def test_what_is_not_to_be_saved_is_settled_with_the_reason(
    house: House, keys: dict[str, Any], states: list[tuple[str, str]]
) -> None:
    house.honcho(**keys)
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.answers(1)
        house.tg.say("two", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert house.ledger("l.state, l.reason") == states * 2
    assert house.agent.runs[1].history == ["one", "re: one"]


async def test_a_session_named_by_hand_is_that_session(house: House) -> None:
    house.honcho(sessions={f"default:telegram:123456:direct:{MIRA}": "garden"})
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.answers(1)
        house.tg.say("/new", user=MIRA)
        await house.answers(2)
        house.tg.say("two", user=MIRA)
        await house.answers(3)
        await house.settled()
    assert [session for session, _, _ in house.sessions()] == ["garden", "garden-2"]


async def test_a_daily_reset_opens_a_session_and_loses_nothing(house: House) -> None:
    """H-52: the platform's time in the configured zone decides."""
    house.configure(
        timezone="Asia/Bangkok", conversations={"reset": {"mode": "daily", "at_hour": 4}}
    )
    day, nine = 24 * 3600, 21 * 3600  # 04:00 in Bangkok is 21:00 UTC
    four = (int(time.time()) - nine) // day * day + nine
    async with house.running():
        for number, (text, at) in enumerate(
            [("one", four - 120), ("03:59", four - 60), ("04:01", four + 60)], 1
        ):
            house.tg.say(text, user=MIRA, date=at)
            await house.answers(number)
        await house.settled()
    assert [why for _, _, why in house.sessions()] == ["daily", ""]
    assert [run.history for run in house.agent.runs] == [[], ["one", "re: one"], []]


async def test_the_logs_learn_the_secrets_of_an_edit(house: House) -> None:
    """H-42."""
    learnt: set[str] = set()
    house.redactor = type("Spy", (Redactor,), {"learn": lambda _, found: learnt.update(found)})(())
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        before = gateway.current.rules
        with house.home.env.open("a") as env:
            env.write("OPENAI_API_KEY=sk-invented-0123456789abcdef\n")
        await reloaded(house, gateway, before)
    assert "sk-invented-0123456789abcdef" in learnt


async def test_an_alias_by_the_service_is_followed_and_memory_with_it(house: House) -> None:
    """The running gateway takes the change up within two seconds, then copies what was said."""
    async with house.running() as gateway:
        for number, user in enumerate((MIRA, TOBIAS), 1):
            house.tg.say(f"words {number}", user=user)
            await house.answers(1, user)
        await house.settled()
        people = app.people_desk(house.home, gateway.store)
        seen = await people.preview(people.aliased({f"telegram:{TOBIAS}": str(MIRA)}))
        assert [(one.before, one.after) for one in seen.moves] == [(str(TOBIAS), str(MIRA))]
        before = gateway.current.rules
        await people.apply(seen.change, expected=seen.revision, author=Author("page", "one"))
        await reloaded(house, gateway, before)
        house.tg.say("words 3", user=TOBIAS)
        await house.answers(2, TOBIAS)
        job = await app.rehoming_desk(people, gateway.store).start(Author("page"))
        await house.until(
            lambda: house.column("SELECT state FROM rehome_job") == ["done"], "memory follows"
        )
        await house.settled()
    assert job.sessions_total == 1
    assert user_rows(house)[-1] == (str(MIRA), "words 3")
    found = [(peer, text) for _, peer, text in house.remembered() if text.startswith("words")]
    assert sorted(found) == [
        (str(MIRA), "words 1"),
        (str(MIRA), "words 2"),
        (str(MIRA), "words 3"),
        (str(TOBIAS), "words 2"),
    ]
    assert house.column("SELECT actor FROM identity_change") == ["page"]


async def test_an_edit_by_hand_stands_in_the_history_and_a_bad_one_in_the_status(
    house: House,
) -> None:
    async with house.running() as gateway:
        house.tg.say("watching?", user=MIRA)
        await house.answers(1)
        before = gateway.current.rules
        house.honcho(userPeerAliases={str(MIRA): "mira"})
        await reloaded(house, gateway, before)
        history = "SELECT actor, reason FROM identity_change"
        await house.until(lambda: house.rows(history) == [("file", "")], "the edit is noted")
        (house.home.path / "honcho.json").write_text("{")
        kept = "SELECT value FROM fact WHERE name = 'settings:kept'"
        await house.until(lambda: house.column(kept), "the fault is noted", timeout=2.0)
        assert "honcho.json:1" in house.column(kept)[0]
        house.honcho(userPeerAliases={str(MIRA): "mira"})
        await house.until(lambda: not house.column(kept), "all is well", timeout=2.0)
