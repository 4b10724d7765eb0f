"""What an operator does about parts that are not delivered, beside a gateway that runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from gateway import app
from gateway.cli.main import cli
from gateway.pipeline.deliveries import DeliveryError, MayArriveTwiceError
from gateway.store.sqlite import SqliteStore
from tests.fakes.household import MIRA

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.pipeline.deliveries import DeliveryDesk
    from gateway.store.engine import Tx
    from tests.integration.pipeline.support import House


async def act(house: House, what: Callable[[Tx, DeliveryDesk], None]) -> None:
    """Do something as the command line does, with a connection of its own."""
    store = SqliteStore(house.home.database)
    try:
        desk = app.delivery_desk(app.load(house.home, {}))
        await store.write(lambda tx: what(tx, desk))
    finally:
        await store.close()


async def retry(house: House, part: int, *, twice: bool = False) -> None:
    await act(house, lambda tx, desk: desk.retry(tx, part, by="test", twice=twice))


async def give_up(house: House, part: int) -> None:
    await act(house, lambda tx, desk: desk.give_up(tx, part, by="test"))


def states(house: House) -> list[str]:
    return house.column("SELECT state FROM outbox ORDER BY id")


async def fail_one(house: House) -> None:
    house.tg.fail("sendMessage", 400, "unexpected")
    house.tg.say("hello", user=MIRA)
    await house.until(lambda: states(house) == ["failed"], "a failed part")
    await house.settled()


async def test_a_failed_part_is_sent_again(house: House) -> None:
    async with house.running():
        await fail_one(house)
        await retry(house, 1)
        assert await house.answers(1) == ["re: hello"]
        await house.settled()
        with pytest.raises(DeliveryError, match="part 1 is delivered"):
            await retry(house, 1)
    assert states(house) == ["delivered"]
    assert house.column("SELECT state FROM turn") == ["settled"]
    assert house.audited("delivery") == [("delivery.retried", "test", "part:1")]


async def test_a_retry_waits_for_the_next_start(house: House) -> None:
    async with house.running():
        await fail_one(house)
    await retry(house, 1)
    assert states(house) == ["waiting"]
    async with house.running():
        [text] = await house.answers(1)
        await house.settled()
    assert text.startswith("re: hello")


async def test_it_may_fail_and_be_tried_as_often_as_one_likes(house: House) -> None:
    async with house.running():
        await fail_one(house)
        for _ in range(2):
            house.tg.fail("sendMessage", 400, "unexpected")
            await retry(house, 1)
            await house.settled()
            assert states(house) == ["failed"]
        await retry(house, 1)
        assert await house.answers(1) == ["re: hello"]


async def test_an_unknown_part_needs_a_clear_yes(house: House) -> None:
    """Nothing is sent twice unless somebody who knows that it may be says so."""
    house.tg.lose("sendMessage")
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.until(lambda: states(house) == ["unknown"], "an unknown part")
        with pytest.raises(MayArriveTwiceError, match="may have arrived"):
            await retry(house, 1)
        await house.settled()
        assert len(house.texts()) == 1
        await retry(house, 1, twice=True)
        assert await house.answers(2) == ["re: hello"] * 2
        await house.settled()
    assert states(house) == ["delivered"]


async def test_a_person_who_blocked_us_can_be_tried_again(house: House) -> None:
    async with house.running():
        house.agent.hold()
        house.tg.say("hello", user=MIRA)
        await house.runs(1)
        house.tg.fail("sendMessage", 403, "Forbidden: bot was blocked by the user")
        house.agent.release()
        await house.until(lambda: states(house) == ["failed"], "a failed part")
        await retry(house, 1)
        assert await house.answers(1) == ["re: hello"]


async def test_giving_up_lets_the_next_part_through(house: House) -> None:
    """The one behind it does not wait for the time that the first was told to wait."""
    house.tg.fail("sendMessage", 429, retry_after=3600)
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.until(
            lambda: house.column("SELECT error FROM outbox") == ["rate_limited"], "it waits"
        )
    async with house.running():
        house.tg.say("/whoami", user=MIRA)
        await house.until(lambda: len(states(house)) == 2, "a second part")
        await give_up(house, 1)
        [text] = await house.answers(1)
        await house.settled()
    assert text.startswith("On telegram you are")
    assert states(house) == ["failed", "delivered"]
    assert house.column("SELECT error FROM outbox ORDER BY id")[0] == "given_up"
    assert house.ledger("m.role, l.state, l.reason")[1] == ("assistant", "skipped", "undelivered")
    assert house.audited("delivery") == [("delivery.given_up", "test", "part:1")]


@pytest.mark.parametrize("act", [retry, give_up])
async def test_what_does_not_fit_is_refused(
    house: House, act: Callable[[House, int], Any]
) -> None:
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
        with pytest.raises(DeliveryError, match="there is no part 99"):
            await act(house, 99)
        with pytest.raises(DeliveryError, match="part 1 is delivered"):
            await act(house, 1)
    assert house.audited("delivery") == []


# --- the command line -----------------------------------------------------------------------


def run(house: House, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setenv("HERMES_HOME", str(house.home.path))
    monkeypatch.setenv("HOME", str(house.home.user))
    found = CliRunner().invoke(cli, ["deliveries", *arguments])
    return found.exit_code, found.stdout, found.stderr


@pytest.fixture
async def stuck(house: House) -> House:
    """A home with one delivered, one failed and one unknown part, whose gateway is down."""
    async with house.running():
        await fail_one(house)
        house.tg.say("again", user=MIRA)
        await house.answers(1)
        house.tg.lose("sendMessage")
        house.tg.say("lost", user=MIRA)
        await house.until(lambda: states(house)[-1] == "unknown", "an unknown part")
        await house.settled()
    return house


def test_commands(stuck: House, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(stuck, monkeypatch)
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()] == [["1", "failed"], ["3", "unknown"]]
    assert f"telegram/123456/{MIRA}" in out
    assert "hello" not in out
    listed = json.loads(run(stuck, monkeypatch, "list", "--json")[1])
    assert listed == json.loads(run(stuck, monkeypatch, "--json")[1])
    assert [(part["id"], part["state"], part["part"]) for part in listed] == [
        (1, "failed", 1),
        (3, "unknown", 1),
    ]
    assert listed[0]["turn"].startswith("t_")
    assert all(0 <= part["age_seconds"] < 3600 for part in listed)

    assert run(stuck, monkeypatch, "retry", "1") == (0, "Part 1 is sent again.\n", "")
    code, _, err = run(stuck, monkeypatch, "retry", "3")
    assert (code, "deliveries retry 3 --yes" in err) == (2, True)
    code, out, _ = run(stuck, monkeypatch, "retry", "3", "--yes", "--json")
    assert (code, json.loads(out)) == (0, {"id": 3, "state": "waiting"})
    code, out, _ = run(stuck, monkeypatch, "give-up", "1", "--json")
    assert (code, json.loads(out)) == (0, {"id": 1, "state": "failed"})
    code, _, err = run(stuck, monkeypatch, "give-up", "2")
    assert (code, err) == (1, "part 2 is delivered: only one that waits can be given up\n")
    assert run(stuck, monkeypatch, "retry", "99")[0] == 1
    assert run(stuck, monkeypatch, "retry", "soon")[0] == 2
    assert [row[:2] for row in stuck.audited("delivery")] == [
        ("delivery.retried", "command line"),
        ("delivery.retried", "command line"),
        ("delivery.given_up", "command line"),
    ]
