"""Starting, stopping, and what the platform does meanwhile; what it says and never says."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.model.errors import (
    AgentError,
    ConfigurationError,
    Disposition,
    GatewayRunningError,
    StoreError,
)
from gateway.ops import health
from gateway.settings.watch import watch
from gateway.store import readonly
from gateway.store.sqlite import SqliteStore
from tests.fakes.household import MIRA, OTHER_TOKEN, TOBIAS, TOKEN

if TYPE_CHECKING:
    from tests.emulators.telegram import TelegramEmulator
    from tests.integration.pipeline.support import House


def states(house: House) -> list[str]:
    """Return what ``status`` says of the connections, from another process's view."""
    if not house.home.database.exists():
        return []
    with readonly.look(house.home.database) as conn:
        if readonly.revision(conn) is None:
            return []
        return [adapter["state"] for adapter in health.adapters(conn)]


async def test_a_platform_that_is_down_at_the_start_is_taken_up_later(house: House) -> None:
    await house.tg.stop()
    async with house.running():
        await house.until(lambda: states(house) == ["retrying"], "retrying")
        await house.tg.start()
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1) == ["re: hello"]
        await house.until(lambda: states(house) == ["connected"], "connected")


async def test_an_outage_loses_nothing_in_either_direction(house: House) -> None:
    house.agent.hold()
    async with house.running():
        house.tg.say("before", user=MIRA)
        await house.runs(1)
        await house.tg.stop()
        house.tg.say("meanwhile", user=MIRA)
        house.agent.release()
        await house.until(lambda: house.column("SELECT state FROM turn") == ["answered"], "commit")
        await house.tg.start()
        assert await house.answers(2) == ["re: before", "re: meanwhile"]
        await house.settled()


async def test_two_pollers_of_one_bot_are_reported(house: House) -> None:
    async with house.running():
        await house.tg.wait_for_calls("getUpdates", 2)
        house.tg.fail("getUpdates", 409, "Conflict: terminated by other getUpdates request")
        house.tg.say("hello", user=MIRA)
        await house.until(lambda: states(house) == ["conflict"], "conflict")
        assert await house.answers(1) == ["re: hello"]


async def test_a_bad_token_is_one_clear_state_and_no_storm(house: House) -> None:
    house.tokens(OTHER_TOKEN)
    async with house.running():
        await house.until(lambda: states(house) == ["bad_credentials"], "said")
    assert len(house.tg.calls_of("getMe")) == 1
    assert house.tg.calls_of("getUpdates") == []
    assert states(house) == ["bad_credentials"]


async def test_one_bad_token_takes_no_other_bot_down(house: House) -> None:
    house.tokens(OTHER_TOKEN, TOKEN)
    async with house.running():
        house.tg.say("hello", user=MIRA)
        assert await house.answers(1, bot=TOKEN) == ["re: hello"]
        await house.until(
            lambda: sorted(states(house)) == ["bad_credentials", "connected"], "both said"
        )


async def test_a_stopped_gateway_does_not_look_connected(house: House) -> None:
    async with house.running():
        await house.until(lambda: states(house) == ["connected"], "connected")
    assert states(house) == ["stopped"]


async def test_stopping_lets_the_running_answer_out_and_takes_nothing_new(house: House) -> None:
    """H-57: what was accepted is answered, now or by the next start, once."""
    house.agent.hold()
    gateway, stop = house.assemble(), asyncio.Event()
    run = asyncio.create_task(gateway.run(stop))
    house.tg.say("one", user=MIRA)
    await house.runs(1)
    house.tg.say("two", user=MIRA)
    await house.taken()
    stop.set()
    await house.until(lambda: gateway.adapters[0].status.state == "stopped", "intake stopped")
    house.tg.say("three", user=MIRA)
    house.agent.release()
    await asyncio.wait_for(run, 8)
    assert house.texts() == ["re: one"]
    assert house.agent.closed
    assert [run.texts for run in house.agent.runs] == [["one"]]
    async with house.running():
        await house.answers(2)
        await house.settled()
    assert [text for _, text in house.ledger() if not text.startswith("re:")] == [
        "one",
        "two",
        "three",
    ]
    assert house.texts()[0] == "re: one"


async def test_stopping_ends_also_when_the_agent_hangs(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H-57: the answer is begun again by the next start."""
    monkeypatch.setattr("gateway.supervisor.GRACE", 0.1)
    house.agent.hold()
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.runs(1)
    house.agent.release()
    async with house.running():
        assert await house.answers(1) == ["re: one"]
        await house.settled()
    assert house.words() == ["one"]
    assert house.column("SELECT attempts FROM item WHERE lane = 'turn'") == [1]


async def test_a_part_that_breaks_is_begun_again_and_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Following the settings can fail for reasons of the machine; it must not end in silence."""
    failures = [OSError("no watches left")]

    async def once(*args: Any, **kwargs: Any) -> None:
        if failures:
            raise failures.pop()
        await watch(*args, **kwargs)

    monkeypatch.setattr("gateway.app.reload.watch", once)
    async with house.running() as gateway:
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        before = gateway.current.rules
        house.honcho(userPeerAliases={str(MIRA): "mira"})
        await house.until(lambda: gateway.current.rules is not before, "reload")
    assert '"part": "reload"' in capsys.readouterr().err


async def test_what_comes_in_survives_a_power_cut_before_the_platform_is_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only these commits are flushed to the disk: all that follows can be done again."""
    flushed: list[bool] = []
    async with house.running() as gateway:
        write = gateway.store.write

        async def noted(fn: Any, *, durable: bool = False) -> Any:
            if "StoreIntake" in getattr(fn, "__qualname__", ""):
                flushed.append(durable)
            return await write(fn, durable=durable)

        monkeypatch.setattr(gateway.store, "write", noted)
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
    assert flushed == [True]


async def test_a_second_gateway_in_one_home_is_refused(house: House) -> None:
    async with house.running():
        with pytest.raises(GatewayRunningError, match="another gateway"):
            house.assemble()
    async with house.running():
        pass


async def test_a_gateway_that_cannot_start_leaves_the_home_free(house: House) -> None:
    house.configure(store={"url": "postgresql://example/db"})
    with pytest.raises(ConfigurationError, match=r"store\.url"):
        house.assemble()
    house.configure()
    house.home.env.write_text("TELEGRAM_BOT_TOKEN=nonsense\n")
    with pytest.raises(ConfigurationError, match="TELEGRAM_BOT_TOKEN"):
        house.assemble()
    house.tokens(TOKEN)
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)


@pytest.mark.parametrize("seconds", [0.3, 1.5])
async def test_a_lock_held_by_another_program_loses_nothing(
    house: House, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H-58: everything waits its turn and goes on; the connections' state is still told."""
    impatient = partial(SqliteStore, busy_timeout=0.5)
    monkeypatch.setattr("gateway.app.configuration.SqliteStore", impatient)
    async with house.running():
        house.tg.say("one", user=MIRA)
        await house.answers(1)
        with closing(sqlite3.connect(house.home.database, timeout=5)) as other:
            other.execute("BEGIN IMMEDIATE")
            house.tg.say("two", user=MIRA)
            house.tg.say("hello", user=TOBIAS)
            await asyncio.sleep(seconds)
            await house.tg.stop()
            await asyncio.sleep(seconds)
            other.rollback()
        await house.until(lambda: states(house) == ["retrying"], "told after the lock")
        await house.tg.start()
        assert await house.answers(2) == ["re: one", "re: two"]
        assert await house.answers(1, TOBIAS) == ["re: hello"]
        await house.settled()
    assert sorted(house.words()) == ["hello", "one", "two"]


async def test_nothing_that_is_written_holds_a_token(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    """H-42: log, standard error, database and replies, over every kind of failure."""
    secret = TOKEN.partition(":")[2]
    tg = house.tg
    house.agent.replies = [AgentError(disposition=Disposition.RETRY), RuntimeError("a defect")]
    async with house.running():
        tg.fail("getUpdates", 404, "Not Found")
        tg.drop("getUpdates")
        tg.malformed("getUpdates")
        tg.fail("sendMessage", 400, "MESSAGE_SOMETHING_NEW")
        tg.say("one", user=MIRA)
        await house.settled()
        tg.lose("sendMessage")
        tg.say("two", user=MIRA)
        await house.settled()
        tg.say("/status", user=MIRA)
        tg.say("/trace", user=MIRA)
        await house.settled()
        told = capsys.readouterr()
        assert secret.encode() not in house.stored_bytes()
    for text in (told.out, told.err, *house.texts()):
        assert secret not in text
    assert "turn.answered" in told.err
    assert secret not in repr(app.load(house.home, {}))


async def test_what_people_say_is_not_in_the_log(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    async with house.running():
        house.tg.say("Xylophonwald", user=MIRA)
        house.tg.say("/title Xylophonwald", user=MIRA)
        await house.answers(2)
        await house.settled()
    told = capsys.readouterr()
    assert "Xylophonwald" not in told.out + told.err
    assert '"action": "turn"' in told.err


async def test_every_line_of_the_log_is_an_event(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    async with house.running():
        house.tg.say("hello", user=MIRA)
        await house.answers(1)
        await house.settled()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    ours = [line for line in lines if "action" in line]
    assert len(ours) == len(lines)
    assert all({"event", "level", "timestamp"} <= line.keys() for line in ours)


async def test_a_poisoned_update_stops_no_other(house: House, tg: TelegramEmulator) -> None:
    """An update that cannot be read is set aside; those around it are answered."""
    async with house.running():
        house.tg.say("one", user=MIRA)
        tg.push({"message": {"message_id": "no number", "chat": {"id": MIRA}}})
        tg.push({"something_new": {"x": 1}})
        house.tg.say("two", user=TOBIAS)
        await house.answers(1)
        await house.answers(1, TOBIAS)
        await house.settled()
    assert house.column("SELECT count(*) FROM set_aside") == [2]


async def test_a_damaged_database_stops_the_start_with_one_line(house: House) -> None:
    async with house.running():
        pass
    house.home.database.write_bytes(b"not a database" * 1000)
    for name in ("gateway.db-wal", "gateway.db-shm"):
        with suppress(FileNotFoundError):
            (house.home.gateway / name).unlink()
    with pytest.raises(StoreError):
        house.assemble()
