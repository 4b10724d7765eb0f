"""What one person says in private reaches no model request for anybody else, by any way.

Each canary travels by one source alone, and is first seen to arrive where it may.
"""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulators.completions import text_of
from tests.emulators.openai import Completion, ModelStub, ToolCall
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.memory.whole import Whole, upstream
from tests.integration.pipeline import conftest as pipeline
from tests.integration.pipeline.support import mention

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.memory.embedded.deriver import Known, Question, Talk, Wish
    from tests.emulators.telegram import TelegramEmulator

tg = pipeline.tg

CANARY = "canary-4711-locker"
TOLD = f"My locker code is {CANARY}."
AGENT = "hermes"
#: a dialectic answer comes in every other turn, later where nothing was known at first
QUESTIONS = (
    "What about the locker?",
    "Which code does it have?",
    "Please tell me.",
    "It is about the locker's code.",
    "Somebody told you, I think.",
    "Was there a locker at all?",
)
SOURCES = ("summary", "representation", "card", "self", "dialectic")
_BLOCK = re.compile("⟦recalled from memory.*?⟦end⟧", re.DOTALL)


class Gossip:
    """A ``Deriver`` that repeats all it is given, by the sources it is told to."""

    def __init__(self, *sources: str) -> None:
        self._sources = sources

    async def representation(self, known: Known, wish: Wish) -> str:
        about = "self" if known.observed == AGENT else "representation"
        return _all(known) if about in self._sources else ""

    async def answer(self, known: Known, question: Question) -> AsyncIterator[str]:
        if "dialectic" in self._sources:
            yield _all(known)

    async def summary(self, talk: Talk) -> str | None:
        said = "\n".join(statement.text for _, statement in talk.lines)
        return said if "summary" in self._sources else None


def _all(known: Known) -> str:
    return "\n".join([*known.card, *(each.text for each in (*known.conclusions, *known.said))])


def repeat(body: dict[str, Any]) -> Completion:
    """Call the tools that the last words name, else repeat these words and nothing recalled."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Completion("Done.")
    words = text_of(last).partition("\n\n")[0]
    if calls := re.findall(r"call (\w+) (\{.*?\})$", words, re.MULTILINE):
        return Completion(tools=tuple(ToolCall(name, arguments) for name, arguments in calls))
    return Completion(f"I heard: {words}")


class Talks:
    """Conversations of two people, and the model requests that each leads to."""

    def __init__(self, house: Whole, model: ModelStub) -> None:
        self.house = house
        self.model = model

    async def ask(self, text: str, *, user: int, group: bool = False) -> list[dict[str, Any]]:
        """Say something and return the requests that were made for it."""
        before = len(self.model.requests)
        said = mention(text) if group else text
        await self.house.ask(said, user=user, chat=GROUP if group else None)
        requests = self.model.requests[before:]
        assert requests, "no model was asked"
        return requests

    async def never_heard(self, *texts: str, user: int, group: bool = False) -> None:
        """Say something and make sure that the canary is in no byte that was sent for it."""
        for text in texts:
            before = len(self.model.raw)
            await self.ask(text, user=user, group=group)
            sent = b"".join(self.model.raw[before:])
            assert CANARY.encode() not in sent, f"{text!r} of {user} brought it up"

    async def plant(self, *sources: str) -> None:
        """Let Mira tell it, and put it where the service itself would need longer."""
        await self.ask(TOLD, user=MIRA)
        async with self.house.direct() as client:
            if "card" in sources:
                card = {"peer_card": [TOLD]}
                answer = await client.put(
                    f"peers/{AGENT}/card", params={"target": "mira"}, json=card
                )
                answer.raise_for_status()
            if "summary" in sources:
                (session,) = self.house.column("SELECT id FROM session")
                said = [{"peer_id": "mira", "content": TOLD} for _ in range(20)]
                path = f"sessions/{session}/messages"
                (await client.post(path, json={"messages": said})).raise_for_status()
        await self.ask("Please remember that.", user=MIRA)


@asynccontextmanager
async def talks(
    folder: Path, tg: TelegramEmulator, database: Path, *sources: str
) -> AsyncIterator[Talks]:
    async with upstream(folder, database, Gossip(*sources)) as service, ModelStub() as model:
        model.reply(repeat)
        house = Whole(folder, tg, service, database=database, model=model)
        house.honcho(dialecticCadence=1, timeout=5)
        yield Talks(house, model)


def recalled(request: dict[str, Any]) -> str:
    """Return the recalled block of a request, "" without one."""
    found = _BLOCK.search(text_of(request["messages"][-1]))
    return found.group() if found else ""


@pytest.mark.parametrize("source", SOURCES)
async def test_what_one_person_told_is_recalled_for_nobody_else(
    tmp_path: Path, tg: TelegramEmulator, template: Path, source: str
) -> None:
    async with talks(tmp_path, tg, template, source) as talk:
        async with talk.house.running():
            await talk.plant(source)
            asked = QUESTIONS[: 6 if source == "dialectic" else 3]
            requests = [(await talk.ask(text, user=MIRA))[0] for text in asked]
            assert CANARY in "".join(map(recalled, requests)), "the canary does not travel at all"

            await talk.never_heard(*asked, user=TOBIAS)
            await talk.never_heard(*asked, user=TOBIAS, group=True)
            await talk.never_heard(*asked, user=MIRA, group=True)
        talk.house.configure(conversations={"audience": "open"})
        async with talk.house.running():
            await talk.never_heard(*asked, user=TOBIAS)
            await talk.never_heard(*asked, user=TOBIAS, group=True)


async def test_an_open_place_hears_what_its_speaker_told(
    tmp_path: Path, tg: TelegramEmulator, template: Path
) -> None:
    """What ``audience: open`` is for, and that strict is what keeps it away."""
    async with talks(tmp_path, tg, template, "representation") as talk:
        talk.house.configure(conversations={"audience": "open"})
        async with talk.house.running():
            await talk.plant()
            await talk.ask("What is my code?", user=MIRA, group=True)
            (request,) = await talk.ask("And my locker's?", user=MIRA, group=True)
            assert CANARY in recalled(request)


CALLS: dict[str, dict[str, object]] = {
    "honcho_profile": {},
    "honcho_search": {"query": "locker code"},
    "honcho_context": {},
    "honcho_reasoning": {"query": "What is the locker code?"},
    "honcho_conclude": {"list": True},
}


@pytest.mark.parametrize("tool", CALLS)
async def test_a_tool_tells_nobody_what_another_person_told(
    tmp_path: Path, tg: TelegramEmulator, template: Path, tool: str
) -> None:
    call = f"call {tool} {json.dumps(CALLS[tool])}"
    async with talks(tmp_path, tg, template, *SOURCES) as talk:
        async with talk.house.running():
            await talk.plant(*SOURCES)
            kept = json.dumps({"conclusion": TOLD})
            await talk.ask(f"call honcho_conclude {kept}", user=MIRA)
            *_, result = await talk.ask(call, user=MIRA)
            assert CANARY in _result(result), "the tool tells nothing at all"

            await _never_told(talk, tool, call)
        talk.house.configure(conversations={"audience": "open"})
        async with talk.house.running():
            await talk.never_heard(call, user=TOBIAS, group=True)


async def _never_told(talk: Talks, tool: str, call: str) -> None:
    await talk.never_heard(call, user=TOBIAS)
    for user in (TOBIAS, MIRA):
        await talk.never_heard(call, user=user, group=True)
    if tool in ("honcho_profile", "honcho_reasoning"):
        for peer in ("mira", str(MIRA), "ai"):
            arguments = {**CALLS[tool], "peer": peer}
            await talk.never_heard(f"call {tool} {json.dumps(arguments)}", user=TOBIAS)


def _result(request: dict[str, Any]) -> str:
    return "\n".join(
        text_of(message) for message in request["messages"] if message["role"] == "tool"
    )


# --- what was recalled does not come back ------------------------------------------------------


async def test_recalled_text_is_neither_stored_nor_shown_again_nor_moves_a_byte(
    tmp_path: Path, tg: TelegramEmulator, template: Path
) -> None:
    """H-50, C12: recall changes from turn to turn, and all before the last words stays."""
    async with talks(tmp_path, tg, template, "representation") as talk:
        texts = [f"I have {number} apples." for number in range(1, 7)]
        async with talk.house.running():
            requests = [(await talk.ask(text, user=MIRA))[0] for text in texts]
        stored = await talk.house.stored()
    blocks = [recalled(request) for request in requests]
    assert "I have 3 apples." in blocks[-1]
    assert len(set(blocks)) > 2, "recall does not change"
    for text, earlier, later in zip(texts, talk.model.raw, talk.model.raw[1:], strict=False):
        end = earlier.rindex(text.encode()) + len(text)
        assert later[:end] == earlier[:end]
    assert all(
        "recalled from memory" not in text_of(one) for one in requests[-1]["messages"][1:-1]
    )
    said = [(peer, text) for rows in stored.values() for peer, text in rows]
    assert said == [
        pair for text in texts for pair in (("mira", text), (AGENT, f"I heard: {text}"))
    ]
    assert [text for _, text in talk.house.ledger()] == [text for _, text in said]
