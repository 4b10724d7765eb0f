"""Killed at each point of a turn's way: what the next process does (design: the crash table)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.policy.crashes import COMPANY, MOST
from tests.crash.driver import DEADLY, STEPS
from tests.fakes.household import MIRA, TOBIAS

if TYPE_CHECKING:
    from tests.crash.processes import CrashHome

pytestmark = pytest.mark.timeout(90)


def exactly_once(home: CrashHome, *texts: str) -> None:
    """Make sure that each message was answered once, in order, and is in memory once."""
    assert home.texts() == list(texts)
    said = [row for text in texts for row in (("user", text), ("assistant", text))]
    assert home.ledger() == said
    assert set(home.ledger("l.state")) == {("saved",)}
    peers = {"user": str(MIRA), "assistant": "hermes"}
    assert [row[1:] for row in home.remembered()] == [(peers[role], text) for role, text in said]
    assert home.column("SELECT state FROM turn ORDER BY created_at") == ["settled"] * len(texts)


async def test_killed_before_the_intake_commit_the_platform_delivers_again(
    crash_home: CrashHome,
) -> None:
    await crash_home.start(hold="before-intake")
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.held()
    await crash_home.kill()
    assert len(crash_home.tg.pending()) == 1
    assert crash_home.column("SELECT count(*) FROM inbox") == [0]
    await crash_home.start()
    await crash_home.quiet()
    exactly_once(crash_home, "hello")


async def test_killed_after_the_intake_commit_the_lane_is_found_and_the_copy_is_silent(
    crash_home: CrashHome,
) -> None:
    """The update was stored and not confirmed, so it comes again too."""
    await crash_home.start(hold="after-intake")
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.held()
    await crash_home.kill()
    assert len(crash_home.tg.pending()) == 1
    assert crash_home.column("SELECT count(*) FROM inbox") == [1]
    await crash_home.start()
    await crash_home.quiet()
    exactly_once(crash_home, "hello")


async def test_killed_while_the_agent_runs_it_resumes_behind_its_committed_steps(
    crash_home: CrashHome,
) -> None:
    crash_home.gate.touch()
    await crash_home.start()
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.until(
        lambda: crash_home.column("SELECT count(*) FROM turn_step") == [len(STEPS)], "steps"
    )
    await crash_home.kill()
    crash_home.tg.say("while it is down", user=MIRA)
    crash_home.gate.unlink()
    await crash_home.start()
    await crash_home.quiet()
    exactly_once(crash_home, "hello", "while it is down")
    runs, steps = crash_home.record("runs"), crash_home.record("steps")
    assert [run["found"] for run in runs] == [[], list(STEPS), []]
    assert runs[0]["turn"] == runs[1]["turn"]
    assert [step["step"] for step in steps if step["turn"] == runs[0]["turn"]] == list(STEPS)
    assert crash_home.column("SELECT attempt FROM turn ORDER BY created_at") == [2, 1]


async def test_killed_again_and_again_while_the_agent_runs_it_gives_up_and_says_so(
    crash_home: CrashHome,
) -> None:
    """A message that takes the process down with it does not do so for ever; those of others
    that ran beside it, however often, are answered.
    """
    crash_home.gate.touch()
    await crash_home.start()
    crash_home.tg.say("beside it", user=TOBIAS)
    await crash_home.ran(1)
    crash_home.tg.say(DEADLY, user=MIRA)
    await crash_home.gone()
    for _ in range(COMPANY - 1):
        await crash_home.gone(crash_home.launch())
    crash_home.gate.unlink()
    for _ in range(MOST - COMPANY):
        await crash_home.gone(crash_home.launch())
    await crash_home.start()
    crash_home.tg.say("harmless", user=MIRA)
    await crash_home.quiet()
    runs = [run for run in crash_home.record("runs") if run["texts"] == [DEADLY]]
    assert len(runs) == MOST
    [told, answer] = crash_home.texts()
    assert told.startswith("Something broke on my side")
    assert (answer, crash_home.texts(TOBIAS)) == ("harmless", ["beside it"])
    assert sorted(crash_home.words()) == ["beside it", DEADLY, "harmless"]
    dead = "SELECT lane, attempts, crashes, error FROM item WHERE state = 'dead'"
    assert crash_home.rows(dead) == [("turn", 1, MOST, f"given up after {MOST} crashes")]


async def test_killed_after_the_answers_commit_delivery_and_memory_go_on(
    crash_home: CrashHome,
) -> None:
    await crash_home.start(hold="before-delivery")
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.held()
    await crash_home.kill()
    assert crash_home.column("SELECT state FROM turn") == ["answered"]
    assert crash_home.ledger("l.state")[1] == ("held",)
    assert crash_home.texts() == []
    await crash_home.start()
    await crash_home.quiet()
    exactly_once(crash_home, "hello")
    assert len(crash_home.record("runs")) == 1


async def test_killed_while_telegram_takes_the_answer_it_is_unknown_and_sent_once(
    crash_home: CrashHome,
) -> None:
    """The message is stored there after we are gone; nobody can ask whether it was."""
    crash_home.tg.slow("sendMessage", 1.0)
    await crash_home.start()
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.tg.wait_for_calls("sendMessage", timeout=20)
    await crash_home.kill()
    await crash_home.answers(1)
    await crash_home.start()
    await crash_home.quiet()
    crash_home.tg.say("next", user=MIRA)
    await crash_home.answers(2)
    await crash_home.quiet()
    exactly_once(crash_home, "hello", "next")
    assert crash_home.column("SELECT state FROM outbox ORDER BY id") == ["unknown", "delivered"]


async def test_killed_after_the_send_before_its_receipt_it_is_unknown_and_sent_once(
    crash_home: CrashHome,
) -> None:
    await crash_home.start(hold="after-send")
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.held()
    await crash_home.kill()
    assert crash_home.column("SELECT state FROM outbox") == ["sending"]
    await crash_home.start()
    await crash_home.quiet()
    exactly_once(crash_home, "hello")
    assert crash_home.rows("SELECT state, error FROM outbox") == [("unknown", "interrupted")]


async def test_killed_before_the_send_it_is_unknown_and_never_claimed_to_be_delivered(
    crash_home: CrashHome,
) -> None:
    """The price of never sending twice: it is shown, and the operator decides."""
    await crash_home.start(hold="before-send")
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.held()
    await crash_home.kill()
    await crash_home.start()
    await crash_home.quiet()
    assert crash_home.texts() == []
    assert crash_home.column("SELECT state FROM outbox") == ["unknown"]
    assert crash_home.words() == ["hello"]


@pytest.mark.parametrize("point", ["before-memory", "after-memory"])
async def test_killed_around_a_memory_write_it_asks_by_key_and_stores_once(
    crash_home: CrashHome, point: str
) -> None:
    """The row was marked as being sent; whether it arrived, only the service can tell."""
    await crash_home.start(hold=point)
    crash_home.tg.say("hello", user=MIRA)
    await crash_home.held()
    await crash_home.kill()
    assert ("sending",) in crash_home.ledger("l.state")
    assert len(crash_home.remembered()) == (point == "after-memory")
    await crash_home.start()
    await crash_home.quiet(40)
    exactly_once(crash_home, "hello")


async def test_terminated_it_finishes_what_runs_and_the_next_start_does_the_rest(
    crash_home: CrashHome,
) -> None:
    """H-57: SIGTERM stops the intake, drains, and leaves nothing behind."""
    crash_home.gate.touch()
    await crash_home.start()
    crash_home.tg.say("one", user=MIRA)
    await crash_home.ran(1)
    crash_home.tg.say("two", user=MIRA)
    await crash_home.taken()
    crash_home.terminate()
    await crash_home.until(lambda: "gateway.stopping" in crash_home.log, "stopping")
    crash_home.tg.say("three", user=TOBIAS)
    crash_home.gate.unlink()
    await crash_home.gone()
    assert crash_home.texts() == ["one"]
    assert crash_home.texts(TOBIAS) == []
    await crash_home.start()
    await crash_home.quiet()
    assert crash_home.texts() == ["one", "two"]
    assert crash_home.texts(TOBIAS) == ["three"]
    assert sorted(crash_home.words()) == ["one", "three", "two"]


async def test_the_home_is_free_after_a_kill_and_taken_while_it_lives(
    crash_home: CrashHome,
) -> None:
    await crash_home.start()
    await crash_home.gone(crash_home.launch())
    assert f"another gateway (process {crash_home.pid})" in crash_home.log
    await crash_home.kill()
    await crash_home.start()
