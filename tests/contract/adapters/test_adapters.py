"""What every platform owes the gateway: the same tests on each, by live emulators."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gateway.model.capabilities import Resend
from gateway.model.choice import Choice, Option, Tone
from gateway.model.errors import AmbiguousSendError, Disposition, PlatformError
from gateway.model.events import EventKind, SenderKind
from gateway.model.files import SentFile
from gateway.model.ids import AccountId, PlaceId, PlatformName
from gateway.model.outbound import Address, Part, RichText
from gateway.pipeline.addresses import account_of, address_of
from tests.contract.adapters.console_rig import ConsoleRig, console
from tests.contract.adapters.core import compose, starts_turn
from tests.contract.adapters.discord_rig import DiscordRig, discord
from tests.contract.adapters.rig import Trait, until
from tests.contract.adapters.slack_rig import SlackRig, slack
from tests.contract.adapters.telegram_rig import TelegramRig, telegram

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.model.events import InboundEvent
    from gateway.model.outbound import Receipt
    from tests.contract.adapters.rig import Rig

RIGS = ((ConsoleRig, console), (TelegramRig, telegram), (DiscordRig, discord), (SlackRig, slack))
CODE = "```python\n" + "\n".join(f"line_{number:03} = {number}" for number in range(400)) + "\n```"
PINGS = (
    "@everyone @here <!channel> <!here> <@U0MIRA0001> <@42> <@&77> "
    "[you](tg://user?id=42) `<!everyone>` [<@U0MIRA0001>](https://example.org/<@42>) done"
)


def on(*needed: Trait) -> pytest.MarkDecorator:
    """Run a test on every platform that has what it needs."""
    made = {make.__name__: make for rig, make in RIGS if rig.traits.issuperset(needed)}
    return pytest.mark.parametrize("rig", made.values(), ids=made, indirect=True)


def heard(rig: Rig) -> str:
    """Return all that the bot said, one message after the other."""
    return "\n".join(shown.text for shown in rig.messages())


async def converse(rig: Rig, text: str) -> str:
    """Say something, wait until it is answered, and return the message's id."""
    message = await rig.say(text)
    await until(lambda: f"re: {text}" in heard(rig))
    await rig.core.answered()
    return message


def part(rig: Rig, content: RichText, key: str = "p_1") -> Part:
    return Part(key, rig.address, content)


async def send(rig: Rig, markdown: str) -> None:
    """Send a model's words as the gateway would."""
    for number, content in enumerate(compose(rig.adapter.platform, markdown)):
        await rig.adapter.send(part(rig, content, f"p_{number}"))


# --- what comes in --------------------------------------------------------------------------


@on()
async def test_words_make_the_round_trip(rig: Rig) -> None:
    await rig.up()
    for text in ("hello", "héllo wörld 😀👩‍👩‍👧", "что нового?", "你好"):
        await converse(rig, text)
        assert heard(rig).count(f"re: {text}") == 1
    assert len(rig.core.turns) == 4


@on()
async def test_what_we_said_ourselves_starts_no_turn(rig: Rig) -> None:
    """H-43: it may come back to us, and is not answered."""
    await rig.up()
    await converse(rig, "one")
    await converse(rig, "two")
    assert rig.core.turns == ["one", "two"]
    assert "re: re:" not in heard(rig)


@on(Trait.USERS)
async def test_other_bots_start_no_turn(rig: Rig) -> None:
    """H-43: where any person would be answered."""
    await rig.up()
    await rig.say("from a person", group=True)
    await until(lambda: "re: from a person" in heard(rig))
    await rig.bot_says("beep")
    await converse(rig, "after")
    assert rig.core.turns == ["from a person", "after"]
    assert "beep" not in heard(rig)


@on(Trait.EDITS)
async def test_an_edit_is_recorded_and_not_answered(rig: Rig) -> None:
    """H-20."""
    await rig.up()
    message = await converse(rig, "helo")
    await rig.edit(message, "hello there")
    await until(lambda: rig.core.edits == ["hello there"])
    await converse(rig, "after")
    assert rig.core.turns == ["helo", "after"]
    assert "hello there" not in heard(rig)


@on(Trait.REPEATS)
async def test_a_repeated_delivery_is_one_event(rig: Rig) -> None:
    """H-15."""
    await rig.up()
    await converse(rig, "hello")
    await rig.duplicate()
    await until(lambda: rig.core.repeats >= 1)
    await converse(rig, "after")
    assert rig.core.turns == ["hello", "after"]
    assert heard(rig).count("re: hello") == 1


@on()
async def test_what_was_said_while_we_were_away_is_answered_in_order(rig: Rig) -> None:
    await rig.up()
    await converse(rig, "before")
    await rig.down()
    for text in ("first", "second"):
        await rig.say(text)
    await rig.up()
    await until(lambda: "re: second" in heard(rig))
    await converse(rig, "after")
    assert rig.core.turns == ["before", "first", "second", "after"]
    assert all(heard(rig).count(f"re: {text}") == 1 for text in rig.core.turns)


@on(Trait.USERS)
async def test_recorded_payloads_start_turns_for_people_only(rig: Rig) -> None:
    events = rig.recorded()
    rules = rig.core.rules
    assert len(events) > 10
    for event in events:
        if event.sender.kind is not SenderKind.PERSON or event.kind is not EventKind.MESSAGE:
            assert not starts_turn(event, rules)
    kinds = {event.kind for event in events}
    assert {EventKind.MESSAGE, EventKind.EDIT, EventKind.SERVICE} <= kinds
    assert any(event.sender.kind in (SenderKind.BOT, SenderKind.SERVICE) for event in events)


# --- what goes out --------------------------------------------------------------------------


@on()
async def test_five_thousand_emoji_arrive_within_the_limits(rig: Rig) -> None:
    """H-30."""
    await rig.up()
    await converse(rig, "hello")
    await send(rig, "😀" * 5000)
    messages = rig.messages()
    assert sum(shown.text.count("😀") for shown in messages) == 5000
    assert all(shown.size <= rig.limit for shown in messages)
    assert "\ufffd" not in heard(rig)


@on()
async def test_four_hundred_lines_of_code_stay_code(rig: Rig) -> None:
    """H-31: every line once, in order, and none outside of a block that is closed."""
    await rig.up()
    await converse(rig, "hello")
    await send(rig, f"Here it is:\n\n{CODE}\n\nDone.")
    messages = rig.messages()
    wanted = [f"line_{number:03} = {number}" for number in range(400)]
    code = "\n".join(shown.code for shown in messages)
    assert re.findall(r"line_\d{3} = \d+", code) == wanted
    assert re.findall(r"line_\d{3} = \d+", heard(rig)) == wanted
    assert all(shown.size <= rig.limit for shown in messages)
    assert heard(rig).rstrip().endswith("Done.")


@on()
async def test_a_word_without_a_gap_is_cut_and_nothing_of_it_lost(rig: Rig) -> None:
    await rig.up()
    await converse(rig, "hello")
    word = "".join(chr(ord("a") + number % 26) for number in range(9000))
    await send(rig, word)
    messages = rig.messages()
    assert "".join(shown.text for shown in messages).replace("\n", "").endswith(word)
    assert all(shown.size <= rig.limit for shown in messages)


@on()
async def test_a_table_of_four_hundred_rows_stays_a_table(rig: Rig) -> None:
    """Every row once, in order, its cells on one line, inside a block that is closed."""
    await rig.up()
    await converse(rig, "hello")
    rows = "\n".join(f"| item {number:03} | {number * 7} |" for number in range(400))
    await send(rig, f"The list:\n\n| name | amount |\n|---|---|\n{rows}\n\nDone.")
    messages = rig.messages()
    code = "\n".join(shown.code for shown in messages)
    found = re.findall(r"item (\d{3})[^\n\d]+(\d+)", code)
    assert found == [(f"{number:03}", str(number * 7)) for number in range(400)]
    assert len(re.findall(r"item \d{3}", heard(rig))) == 400
    assert all(shown.size <= rig.limit for shown in messages)
    assert heard(rig).rstrip().endswith("Done.")


@on()
async def test_words_of_a_model_ping_nobody(rig: Rig) -> None:
    """H-32."""
    await rig.up()
    await converse(rig, "hello")
    await send(rig, PINGS)
    assert "done" in heard(rig)
    assert not any(shown.pings for shown in rig.messages())


@on(Trait.LOSSES)
async def test_a_lost_answer_is_handled_as_the_platform_allows(rig: Rig) -> None:
    """Whatever may be done about it, the words stand there once."""
    await rig.up()
    await converse(rig, "hello")
    [content] = compose(rig.adapter.platform, "the answer")
    wanted = part(rig, content)
    rig.lose()
    with pytest.raises(AmbiguousSendError):
        await rig.adapter.send(wanted)
    receipt = await resolved(rig, wanted)
    assert heard(rig).count("the answer") == 1
    known = rig.adapter.capabilities.resend is not Resend.NEVER
    assert (receipt is not None) is known


# --- buttons --------------------------------------------------------------------------------

WORDS = "Or answer `/memory approve k7`."
ASKED = Choice("Zm9vYmFyYmF6", (Option("yes", "Yes", Tone.GOOD), Option("no", "No")), WORDS)


async def ask(rig: Rig, choice: Choice = ASKED) -> None:
    """Start a conversation and put a question with buttons."""
    await rig.up()
    await converse(rig, "hello")
    [content] = compose(rig.adapter.platform, "Shall I note **tea**?")
    await rig.adapter.send(Part("q_1", rig.address, content, choice=choice))


def presses(rig: Rig) -> list[InboundEvent]:
    return [event for event in rig.core.events if event.kind is EventKind.PRESS]


@on(Trait.BUTTONS)
async def test_a_button_says_who_pressed_what_and_gives_way_to_the_outcome(rig: Rig) -> None:
    await ask(rig)
    question = rig.messages()[-1]
    assert question.buttons == ("Yes", "No")
    assert WORDS not in question.text
    rig.click("No")
    await until(lambda: presses(rig))
    assert await rig.heard_clicks() == 1
    [event] = presses(rig)
    assert event.pressed is not None
    assert (event.pressed.choice, event.pressed.value) == (ASKED.id, "no")
    assert event.sender.kind is SenderKind.PERSON
    assert account_of(event) == account_of(rig.core.events[0])
    assert address_of(event) == rig.address
    before = len(rig.messages())
    [outcome] = compose(rig.adapter.platform, "All right, **no** tea.")
    changed = Part("q_2", rig.address, outcome, edits=event.pressed.message)
    for _ in range(2):  # as after a lost answer: nothing more changes
        assert (await rig.adapter.send(changed)).message == event.pressed.message
    assert len(rig.messages()) == before
    assert (rig.messages()[-1].text.count("no"), rig.messages()[-1].buttons) == (1, ())


@on(Trait.BUTTONS)
async def test_a_press_is_one_event_however_often_it_comes(rig: Rig) -> None:
    await ask(rig)
    rig.click("Yes")
    rig.click("Yes")
    await until(lambda: len(presses(rig)) == 2)
    assert len({event.dedupe_key for event in presses(rig)}) == 2
    assert not any(starts_turn(event, rig.core.rules) for event in presses(rig))
    await rig.down()
    rig.click("No")
    await rig.up()
    if rig.adapter.platform != "discord":  # there a press fails at once when nobody listens
        await until(lambda: len(presses(rig)) == 3)


@on(Trait.BUTTONS)
async def test_buttons_that_are_refused_become_words(rig: Rig) -> None:
    await ask(rig, Choice("x" * 80, (Option("yes", "Y" * 200),), WORDS))
    said = rig.messages()[-1]
    assert "Or answer" in said.text
    assert "/memory approve k7" in said.text
    assert said.buttons == ()


@on(Trait.BUTTONS)
async def test_an_outcome_is_told_even_where_the_question_is_gone(rig: Rig) -> None:
    await ask(rig)
    rig.click("Yes")
    await until(lambda: presses(rig))
    [event] = presses(rig)
    assert event.pressed is not None
    rig.remove()
    [outcome] = compose(rig.adapter.platform, "Noted.")
    receipt = await rig.adapter.send(
        Part("q_2", rig.address, outcome, edits=event.pressed.message)
    )
    assert receipt.degraded == ("no-edit",)
    assert rig.messages()[-1].text == "Noted."


async def resolved(rig: Rig, wanted: Part) -> Receipt | None:
    """Do about an open send what the platform's capabilities say."""
    again = Part(wanted.key, wanted.address, wanted.content, in_doubt=True)
    match rig.adapter.capabilities.resend:
        case Resend.IDEMPOTENT:
            return await rig.adapter.send(again)
        case Resend.LOOK_UP:
            return await rig.adapter.look_up(again)
        case Resend.NEVER:
            with pytest.raises(PlatformError) as caught:
                await rig.adapter.look_up(again)
            assert caught.value.disposition is Disposition.AMBIGUOUS
            return None


# --- files ----------------------------------------------------------------------------------

ADDRESS = Address(PlatformName("none"), AccountId("0"), PlaceId("0"))
PLAN = "# План\n\nSpazieren 🐕\n".encode()


def file_part(path: Path, label: str = "plan.md", *, in_doubt: bool = False) -> Part:
    sent = SentFile(path.name, label, "text/markdown", path.stat().st_size)
    return Part("p_file", ADDRESS, RichText(""), file=sent, in_doubt=in_doubt)


def at(rig: Rig, made: Part) -> Part:
    return replace(made, address=rig.address)


def file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return file(tmp_path / "0123.md", PLAN)


@on()
async def test_a_file_arrives_whole_under_its_name(rig: Rig, plan: Path) -> None:
    await rig.up()
    await converse(rig, "hello")
    receipt = await rig.adapter.send_file(at(rig, file_part(plan)), plan)
    assert receipt.message
    await until(lambda: rig.files() == [("plan.md", PLAN)])
    assert rig.adapter.capabilities.max_upload > 0
    await converse(rig, "thanks")
    assert rig.core.turns == ["hello", "thanks"]  # the file that came back to us started none


@on(Trait.LOSSES)
async def test_a_lost_answer_to_a_file_is_handled_as_the_platform_allows(
    rig: Rig, plan: Path
) -> None:
    """Two files of one name: each stands there once, whatever may be done about the loss."""
    await rig.up()
    await converse(rig, "hello")
    earlier = replace(at(rig, file_part(plan)), key="p_earlier")
    await rig.adapter.send_file(earlier, plan)
    later = file(plan.with_name("4567.md"), PLAN + b"Later.")
    wanted = at(rig, file_part(later))
    rig.lose(file=True)
    with pytest.raises(AmbiguousSendError):
        await rig.adapter.send_file(wanted, later)
    again = replace(wanted, in_doubt=True)
    receipt = None
    match rig.adapter.capabilities.resend:
        case Resend.IDEMPOTENT:
            receipt = await rig.adapter.send_file(again, later)
        case Resend.LOOK_UP:
            receipt = await rig.adapter.look_up(again)
        case Resend.NEVER:
            assert isinstance(rig, TelegramRig)
    assert [content for _, content in rig.files()] == [PLAN, PLAN + b"Later."]
    assert (receipt is None) is isinstance(rig, TelegramRig)


@on(Trait.LOSSES)
async def test_a_file_that_was_never_taken_is_not_found(rig: Rig, plan: Path) -> None:
    await rig.up()
    await converse(rig, "hello")
    unsent = at(rig, file_part(plan, in_doubt=True))
    if rig.adapter.capabilities.resend is Resend.LOOK_UP:
        assert await rig.adapter.look_up(unsent) is None
    await rig.adapter.send_file(unsent, plan)
    assert len(rig.files()) == 1


@on(Trait.LOSSES)
@pytest.mark.parametrize("large", [True, False])
async def test_a_refused_file_says_why(rig: Rig, plan: Path, large: bool) -> None:
    await rig.up()
    await converse(rig, "hello")
    rig.refuse_file(large=large)
    with pytest.raises(PlatformError) as caught:
        await rig.adapter.send_file(at(rig, file_part(plan)), plan)
    assert caught.value.disposition is Disposition.GIVE_UP
    assert caught.value.code in ({"too_large"} if large else {"forbidden", "unreachable"})
    assert rig.files() == []


@on()
async def test_every_exception_of_the_library_has_its_row(rig: Rig) -> None:
    assert rig.untranslated() == set()
