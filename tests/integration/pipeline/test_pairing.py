"""Pairing: a stranger's direct message is answered with a code, and an operator lets them in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gateway import app
from gateway.pipeline.pairing import ALPHABET, Codes, Pairing, PairingError, load_secret
from gateway.pipeline.post import Post
from gateway.store.sqlite import SqliteStore
from tests.fakes.household import GROUP, MIRA, STRANGER
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from gateway.store.pairing import Request

HOUR = timedelta(hours=1).total_seconds()
MINUTES_10 = timedelta(minutes=10).total_seconds()

WELCOME = "You have been let in. Welcome! Write to me whenever you like."


def desk(house: House) -> Pairing:
    """Return pairing as a command beside the running gateway has it."""
    return app.pairing_desk(house.home, app.load(house.home, {}))


async def approve(house: House, code: str, *, admin: bool = False) -> Request | PairingError:
    """Approve as ``hermes-gateway pairing approve`` does, with a connection of its own."""
    store = SqliteStore(house.home.database)
    try:
        return await store.write(
            lambda tx: desk(house).approve(tx, code, admin=admin, by="command line")
        )
    finally:
        await store.close()


async def code_for(house: House, user: int = STRANGER, *, count: int = 1) -> str:
    """Ask as a stranger and return the code that came."""
    house.tg.say("hello", user=user)
    text = (await house.answers(count, user))[count - 1]
    found = re.search(rf"\b[{ALPHABET}]{{8}}\b", text)
    assert found, text
    return found[0]


async def test_a_code_lets_a_stranger_in_and_is_never_stored(house: House) -> None:
    async with house.running():
        code = await code_for(house)
        result = await approve(house, f" {code.lower()} ")
        assert not isinstance(result, PairingError)
        asked = house.clock.monotonic()
        assert (await house.answers(2, STRANGER))[1] == WELCOME
        assert house.clock.monotonic() - asked < 5
        house.tg.say("hello again", user=STRANGER)
        assert (await house.answers(3, STRANGER))[2] == "re: hello again"
        await house.settled()
        stored = house.stored_bytes()
    for written in (code.encode(), code.lower().encode()):
        assert written not in stored
        assert written not in house.stored_bytes()
    assert house.words() == ["hello again"]
    stranger = f"telegram:{STRANGER}"
    assert house.audited() == [
        ("pairing.requested", "stranger", stranger),
        ("pairing.approved", "command line", stranger),
        ("access.admitted", "gateway", stranger),
    ]
    assert stranger not in str(house.rows("SELECT * FROM audit"))


async def test_approval_while_the_gateway_is_down_is_told_at_its_start(house: House) -> None:
    async with house.running():
        code = await code_for(house)
        await house.settled()
    assert not isinstance(await approve(house, code), PairingError)
    async with house.running():
        assert (await house.answers(2, STRANGER))[1] == WELCOME


async def test_the_letter_is_written_in_the_strangers_language(house: House) -> None:
    house.tg.user(STRANGER, language_code="zh-hans")
    async with house.running():
        code = await code_for(house)
        await approve(house, code)
        texts = await house.answers(2, STRANGER)
    assert all(re.search("[\u4e00-\u9fff]", text) for text in texts)


async def test_one_code_for_each_person_in_ten_minutes(house: House) -> None:
    async with house.running():
        await code_for(house)
        house.tg.say("hello?", user=STRANGER)
        await house.settled()
        assert len(house.texts(STRANGER)) == 1
        house.clock.jump(MINUTES_10)
        await code_for(house, count=2)
    assert house.reasons() == ["pairing", "pairing_waiting", "pairing"]


async def test_three_may_wait(house: House) -> None:
    async with house.running():
        codes = [await code_for(house, STRANGER + number) for number in range(3)]
        house.tg.say("me too", user=STRANGER + 3)
        await house.settled()
        assert house.texts(STRANGER + 3) == []
        await approve(house, codes[0])
        await code_for(house, STRANGER + 3)
    assert house.reasons() == ["pairing"] * 3 + ["pairing_full", "pairing"]
    assert len(set(codes)) == 3


async def test_a_code_is_good_for_an_hour(house: House) -> None:
    async with house.running() as gateway:
        code = await code_for(house)
        house.clock.jump(HOUR)
        pairing = house_pairing(house, gateway)
        result = await gateway.store.write(
            lambda tx: pairing.approve(tx, code, admin=False, by="test")
        )
        assert isinstance(result, PairingError)
        house.tg.say("hello", user=STRANGER)
        fresh = (await house.answers(2, STRANGER))[1]
    assert code not in fresh


def house_pairing(house: House, gateway: app.Gateway) -> Pairing:
    """Return pairing on the running gateway's own clock and mailbox."""
    post = Post(gateway.engine, house.clock, app.capabilities())
    return Pairing(house.clock, Codes(load_secret(house.home.secret)), gateway.current, post)


@pytest.mark.parametrize("spread", [0.0, 0.9 * HOUR])
async def test_five_wrong_codes_lock_approval_for_an_hour(house: House, spread: float) -> None:
    """The hour begins with the fifth, however long ago the first was."""
    async with house.running() as gateway:
        pairing = house_pairing(house, gateway)

        async def attempt(code: str) -> Request | PairingError:
            return await gateway.store.write(
                lambda tx: pairing.approve(tx, code, admin=False, by="test")
            )

        for number in range(5):
            if number == 4:
                house.clock.jump(spread)
            assert "no waiting request" in str(await attempt("WRONGONE"))
        house.clock.jump(0.5 * HOUR)
        code = await code_for(house)
        assert "locked" in str(await attempt(code))
        house.clock.jump(0.4 * HOUR)
        assert "locked" in str(await attempt(code))
        house.clock.jump(0.11 * HOUR)
        assert not isinstance(await attempt(code), PairingError)


async def test_a_right_code_forgets_the_wrong_ones(house: House) -> None:
    async with house.running():
        code = await code_for(house)
        for _ in range(4):
            assert isinstance(await approve(house, "WRONGONE"), PairingError)
        assert not isinstance(await approve(house, code), PairingError)
        other = await code_for(house, STRANGER + 1)
        for _ in range(4):
            assert isinstance(await approve(house, "WRONGONE"), PairingError)
        assert not isinstance(await approve(house, other), PairingError)


async def test_a_code_works_once(house: House) -> None:
    async with house.running():
        code = await code_for(house)
        assert not isinstance(await approve(house, code), PairingError)
        assert isinstance(await approve(house, code), PairingError)


async def test_an_admin_approves_in_a_chat(house: House) -> None:
    """What makes the admin is their account: nobody else's command counts."""
    house.configure(access={"admins": [f"telegram:{MIRA}"]})
    async with house.running():
        code = await code_for(house)
        house.tg.say("/approve WRONGONE", user=MIRA)
        house.tg.say(f"/approve {code}", user=MIRA)
        assert (await house.answers(2))[1] == f"telegram:{STRANGER} has been let in."
        assert (await house.answers(2, STRANGER))[1] == WELCOME


async def test_an_admin_turns_somebody_away(house: House) -> None:
    """They are not told, and their code is worth nothing any more."""
    house.configure(access={"admins": [f"telegram:{MIRA}"]})
    async with house.running():
        code = await code_for(house)
        house.tg.say("/deny WRONGONE", user=MIRA)
        house.tg.say(f"/deny {code}", user=MIRA)
        wrong, denied = await house.answers(2)
        assert denied == f"telegram:{STRANGER} stays outside. Nobody was told."
        assert wrong.startswith("No request that is waiting has this code.")
        assert isinstance(await approve(house, code), PairingError)
        await house.settled()
        assert len(house.texts(STRANGER)) == 1
    assert house.audited("pairing")[-1] == (
        "pairing.denied",
        f"telegram:{MIRA}",
        f"telegram:{STRANGER}",
    )


async def test_guessing_by_deny_is_locked_like_approving(house: House) -> None:
    house.configure(access={"admins": [f"telegram:{MIRA}"]})
    async with house.running():
        code = await code_for(house)
        for number in range(5):
            house.tg.say(f"/deny WRONG{number}", user=MIRA)
        await house.answers(5)
        assert "locked" in str(await approve(house, code))


async def test_who_waits_and_who_is_in(house: House) -> None:
    house.configure(access={"admins": [f"telegram:{MIRA}"]})
    house.tg.user(STRANGER, first_name="Ada")
    async with house.running():
        house.tg.say("/who", user=MIRA)
        [nobody] = await house.answers(1)
        code = await code_for(house)
        house.tg.say("/who", user=MIRA)
        waiting = (await house.answers(2))[1]
        await approve(house, code, admin=True)
        house.tg.say("hello", user=STRANGER)
        await house.answers(3, STRANGER)
        house.tg.say("/who", user=MIRA)
        granted = (await house.answers(3))[2]
    assert nobody.startswith("Nobody has been let in")
    assert re.fullmatch(rf"• waiting until \d\d:\d\d: telegram:{STRANGER}", waiting)
    assert granted == f"• admin: telegram:{STRANGER} (Ada)"
    assert code not in waiting


@pytest.mark.parametrize("command", ["/who", "/approve {}", "/deny {}"])
async def test_an_admin_is_answered_in_a_direct_message_only(house: House, command: str) -> None:
    """A group must not read who waits, nor use up anybody's code."""
    house.configure(access={"admins": [f"telegram:{MIRA}"]})
    async with house.running():
        code = await code_for(house)
        said = command.format(code).replace(" ", "@gate_bot ", 1)
        said = said if " " in said else f"{said}@gate_bot"
        house.tg.say(said, user=MIRA, chat=GROUP)
        [answer] = await house.answers(1, GROUP)
        assert answer == "I answer that only in a direct message. Please send it to me there."
        assert not isinstance(await approve(house, code), PairingError)


async def test_an_admin_finds_the_commands_in_help(house: House) -> None:
    house.configure(access={"admins": [f"telegram:{MIRA}"]})
    async with house.running():
        house.tg.say("/help", user=MIRA)
        house.tg.say("/help@gate_bot", user=MIRA, chat=GROUP)
        [alone], [in_group] = await house.answers(1), await house.answers(1, GROUP)
    for command in ("/approve —", "/deny —", "/who —"):
        assert command in alone
        assert command not in in_group


async def test_an_admin_by_pairing_may_approve_others(house: House) -> None:
    async with house.running():
        await approve(house, await code_for(house), admin=True)
        await house.answers(2, STRANGER)
        code = await code_for(house, STRANGER + 1)
        house.tg.say(f"/approve {code}", user=STRANGER)
        assert "has been let in" in (await house.answers(3, STRANGER))[2]


async def test_what_was_granted_can_be_taken_back(house: House) -> None:
    async with house.running() as gateway:
        await approve(house, await code_for(house))
        await house.answers(2, STRANGER)
        account = f"telegram:{STRANGER}"
        assert await gateway.store.write(lambda tx: desk(house).revoke(tx, account, by="test"))
        assert not await gateway.store.write(lambda tx: desk(house).revoke(tx, account, by="test"))
        house.tg.say("hello", user=STRANGER)
        await house.settled()
    assert house.agent.runs == []


async def test_a_stranger_in_a_group_gets_silence(house: House) -> None:
    async with house.running():
        house.tg.say(mention("hello"), user=STRANGER, chat=GROUP)
        await house.silence()
    assert house.column("SELECT count(*) FROM pairing") == [0]


async def test_a_letter_that_is_lost_is_not_sent_twice(house: House) -> None:
    house.tg.lose("sendMessage")
    async with house.running():
        house.tg.say("hello", user=STRANGER)
        await house.settled()
    async with house.running():
        await house.settled()
    assert len(house.texts(STRANGER)) == 1
    assert house.column("SELECT state FROM outbox") == ["unknown"]
