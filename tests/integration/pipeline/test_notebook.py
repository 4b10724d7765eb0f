"""The built-in memory in a whole gateway: the model's tools, the prompt, the person's yes."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.agent.choice import Choice, Kind
from gateway.agent.models import HostedModels
from gateway.agent.prompt import Persona
from gateway.agent.run import ModelAgent
from gateway.agent.tools import adapt
from gateway.settings.home import make_private_folder
from tests.emulators.completions import text_of
from tests.emulators.openai import Completion, ModelStub, ToolCall
from tests.fakes.agent import ScriptedAgent
from tests.fakes.household import GROUP, MIRA, STRANGER, TOBIAS
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from gateway.ports import Agent, AgentTool
    from tests.emulators.telegram import TelegramEmulator

CANARY = "canary-91c2"
NAMES = {f"telegram:{MIRA}": "mira", f"telegram:{TOBIAS}": "tobias"}


class Study(House):
    """A home whose agent runs on a model that a test speaks for; Mira owns it."""

    def __init__(self, folder: Path, tg: TelegramEmulator, model: ModelStub) -> None:
        super().__init__(folder, tg, ScriptedAgent())
        self.stub = model
        make_private_folder(self.home.gateway)
        self.honcho(peerName="mira", userPeerAliases=NAMES)

    def assemble(self, *, platforms: bool = True) -> app.Gateway:
        loaded = app.load(self.home, {})
        start = app.Start(
            self.home,
            loaded,
            self._agent,
            platforms=platforms,
            clock=self.clock,
            terminal={"run": (), "memory": (), "search": ()},
        )
        return app.assemble(start)

    def _agent(self, tools: Sequence[AgentTool]) -> Agent:
        choice = Choice(Kind.OPENAI, name="stub-model", base_url=self.stub.base_url)
        source = HostedModels([choice], {"OPENAI_API_KEY": "sk-test-key"})
        return ModelAgent(source, Persona(), tools=adapt(tools))

    def calls(self, name: str, **arguments: str) -> None:
        """Let the model call a tool in the next turn and then say what came of it."""
        self.stub.script(Completion(tools=(ToolCall(name, json.dumps(arguments)),)), "Done.")

    async def ask(self, text: str, *, user: int = MIRA, chat: int | None = None) -> str:
        """Say something and return the answer, once all is settled."""
        where = user if chat is None else chat
        before = len(self.texts(where))
        self.tg.say(text, user=user, chat=chat)
        answer = (await self.answers(before + 1, where))[before]
        await self.settled()
        return answer

    def prompt(self, request: int = -1) -> str:
        """Return the system prompt of a model request."""
        return text_of(self.stub.requests[request]["messages"][0])

    def told(self) -> str:
        """Return what the last tool call answered."""
        return text_of(self.stub.requests[-1]["messages"][-1])


@pytest.fixture
async def model() -> AsyncIterator[ModelStub]:
    async with ModelStub() as stub:
        stub.reply("I see.")
        yield stub


@pytest.fixture
def study(tmp_path: Path, tg: TelegramEmulator, model: ModelStub, empty_database: Path) -> Study:
    house = Study(tmp_path, tg, model)
    house.home.database.write_bytes(empty_database.read_bytes())
    return house


async def test_what_was_noted_is_in_the_prompt_of_the_next_session(study: Study) -> None:
    async with study.running():
        study.calls("memory", action="add", target="user", content="Is called Mira")
        await study.ask("My name is Mira")
        assert json.loads(study.told())["entries"] == ["Is called Mira"]
        assert (study.home.memories / "USER.md").read_text() == "Is called Mira\n"
        first = study.prompt()
        await study.ask("Thanks")
        assert study.prompt() == first, "the prompt keeps its bytes for the session"
        assert "Is called Mira" not in first
        await study.ask("/new")
        await study.ask("Hello again")
    assert "USER PROFILE (who the user is) [1% — 14/1,375 chars]" in study.prompt()
    assert "Is called Mira" in study.prompt()


async def test_each_person_has_notes_of_their_own(study: Study) -> None:
    make_private_folder(study.home.memories)
    (study.home.memories / "MEMORY.md").write_text(CANARY)
    async with study.running():
        study.calls("memory", action="add", target="memory", content="Tobias plays chess")
        await study.ask("Hi", user=TOBIAS)
        assert CANARY.encode() not in b"".join(study.stub.raw)
        await study.ask("Hi")
        assert CANARY in study.prompt()
    path = study.home.people / "tobias" / "memories" / "MEMORY.md"
    assert path.read_text() == "Tobias plays chess\n"
    assert (study.home.memories / "MEMORY.md").read_text() == CANARY


async def test_a_stranger_is_given_nothing_of_the_owners(study: Study) -> None:
    """H-53: whoever speaks first in a group is not the owner."""
    make_private_folder(study.home.memories)
    (study.home.memories / "USER.md").write_text(CANARY)
    study.configure(
        access={"open_places": {"telegram": [str(GROUP)]}}, conversations={"audience": "open"}
    )
    study.tg.group(GROUP, title="Family")
    async with study.running():
        await study.ask(mention("hello"), user=STRANGER, chat=GROUP)
        assert CANARY.encode() not in b"".join(study.stub.raw)
        await study.ask(mention("hello"), user=MIRA, chat=GROUP)
        assert CANARY in study.prompt()


async def test_a_name_typed_on_two_devices_is_one_owner(study: Study) -> None:
    """H-12: composed in the alias, decomposed in peerName."""
    study.honcho(peerName="Zoe\u0308", userPeerAliases={f"telegram:{MIRA}": "Zo\u00eb"})
    async with study.running():
        study.calls("memory", action="add", target="user", content="Is called Zoë")
        await study.ask("I am Zoë")
    assert (study.home.memories / "USER.md").read_text() == "Is called Zoë\n"


async def test_a_group_hears_nothing_of_anybodys_notes(study: Study) -> None:
    make_private_folder(study.home.memories)
    (study.home.memories / "MEMORY.md").write_text(CANARY)
    study.tg.group(GROUP, title="Family")
    async with study.running():
        await study.ask(f"Our {CANARY} is a secret")
        before = len(study.stub.raw)
        for arguments in ({"query": "secret OR canary"}, {}):
            study.calls("session_search", **arguments)
            await study.ask(mention("what is it?"), chat=GROUP)
        study.calls("memory", action="remove", target="memory", old_text="canary")
        await study.ask(mention("forget it"), chat=GROUP)
        shown = study.texts(GROUP)
        shown.append(await study.ask("/memory@gate_bot", chat=GROUP))
        shown.append(await study.ask(f"/search@gate_bot {CANARY[:6]}", chat=GROUP))
    sent = b"".join(study.stub.raw[before:])
    assert CANARY.encode() not in sent
    assert not any(CANARY in text for text in shown)
    assert "direct message" in shown[-2]


async def test_earlier_conversations_are_found_by_the_model_and_by_the_person(
    study: Study,
) -> None:
    async with study.running():
        await study.ask("The otter is back in the pond")
        await study.ask("/new")
        study.calls("session_search", query="otter")
        await study.ask("Where was the animal?")
        [hit] = json.loads(study.told())["results"]
        assert (hit["who"], hit["after"]) == ("Mira", "you: I see.")
        found = await study.ask("/search otter")
        assert re.search(r"\d{4}-\d\d-\d\d, Mira: The otter is back in the pond", found)
        assert await study.ask("/search zebra") == "I found nothing for “zebra”."
        assert await study.ask("/search") == "Tell me what to look for: /search garden."
        other = await study.ask("/search otter", user=TOBIAS)
    assert other.startswith("I found nothing")


async def test_a_person_sees_their_notes(study: Study) -> None:
    async with study.running():
        assert await study.ask("/memory") == "I have not noted anything about you yet."
        study.calls("memory", action="add", target="memory", content="*Plays* chess")
        await study.ask("I play chess")
        shown = await study.ask("/memory")
        assert await study.ask("/memory burn everything") == (
            "Send /memory, /memory approve ID or /memory reject ID."
        )
    assert shown == "My notes (0% — 13/2,200 chars):\n\n• *Plays* chess"


async def test_a_write_waits_for_the_persons_yes_in_their_direct_message(study: Study) -> None:
    study.configure(memory={"write_approval": True})
    study.tg.group(GROUP, title="Family")
    async with study.running():
        await study.ask("Hi")
        before = len(study.texts(MIRA))
        study.calls("memory", action="add", target="user", content="Plays chess")
        await study.ask(mention("I play chess"), chat=GROUP)
        asked = (await study.answers(before + 1))[before]
        assert "in USER.md: “Plays chess”." in asked
        assert not any("Plays chess" in text for text in study.texts(GROUP))
        assert "/memory" not in asked, "it has buttons"
        [id_] = re.findall(r"/memory approve (\w+)", await study.ask("/memory"))
        stranger = await study.ask(f"/memory approve {id_}", user=TOBIAS)
        assert stranger.startswith("Nothing waits under")
        assert not (study.home.memories / "USER.md").exists()
        assert await study.ask(f"/memory approve {id_}") == "Written down."
    assert (study.home.memories / "USER.md").read_text() == "Plays chess\n"


async def asked_for_a_yes(study: Study) -> int:
    """Let the agent want to note something and return the question's message id."""
    study.calls("memory", action="add", target="user", content="Plays chess")
    study.tg.say("I play chess", user=MIRA)
    await study.until(lambda: _questions(study), "a question with buttons")
    await study.settled()
    [question] = _questions(study)
    return int(question["message_id"])


def _questions(study: Study) -> list[dict[str, Any]]:
    return [each for each in study.tg.answers(MIRA) if "reply_markup" in each]


async def test_a_button_is_the_persons_yes(study: Study) -> None:
    study.configure(memory={"write_approval": True})
    async with study.running():
        await study.ask("Hi")
        question = await asked_for_a_yes(study)
        before = study.texts(MIRA)
        study.tg.click("Yes", user=TOBIAS, chat=MIRA)
        refused = (await study.answers(len(before) + 1))[-1]
        assert refused.startswith("That question was for somebody else")
        assert not (study.home.memories / "USER.md").exists()
        study.tg.click("Yes", user=MIRA, chat=MIRA)
        study.tg.click("No", user=MIRA, chat=MIRA)
        await study.until(lambda: not _questions(study), "the outcome")
        study.tg.duplicate()
        await study.ask("Thanks")
        shown = {each["message_id"]: each["text"] for each in study.tg.answers(MIRA)}
        assert shown[question].endswith("in USER.md: “Plays chess”.\n\nWritten down.")
        assert [*shown.values()] == ["I see.", shown[question], "Done.", refused, "I see."]
        assert "Waiting" not in await study.ask("/memory")
    assert (study.home.memories / "USER.md").read_text() == "Plays chess\n"
    assert "Plays chess" not in str(study.rows("SELECT * FROM question"))


@pytest.mark.parametrize("by_words", [False, True])
async def test_a_button_works_after_a_restart_and_after_another_answer(
    study: Study, by_words: bool
) -> None:
    study.configure(memory={"write_approval": True})
    async with study.running():
        await study.ask("Hi")
        question = await asked_for_a_yes(study)
        if by_words:
            [id_] = re.findall(r"/memory approve (\w+)", await study.ask("/memory"))
            assert await study.ask(f"/memory reject {id_}") == "All right, I will not keep that."
    study.tg.click("Yes", user=MIRA, chat=MIRA)
    async with study.running():
        await study.until(lambda: not _questions(study), "the outcome")
    shown = {each["message_id"]: each["text"] for each in study.tg.answers(MIRA)}
    outcome = "All right, I will not keep that." if by_words else "Written down."
    assert shown[question].endswith(outcome)
    assert (study.home.memories / "USER.md").exists() is not by_words


async def test_a_question_that_nobody_knows_is_closed(study: Study) -> None:
    study.configure(memory={"write_approval": True})
    async with study.running():
        await study.ask("Hi")
        question = await asked_for_a_yes(study)
    with closing(sqlite3.connect(study.home.database)) as conn, conn:
        conn.execute("DELETE FROM question")
    study.tg.click("Yes", user=MIRA, chat=MIRA)
    async with study.running():
        await study.until(lambda: not _questions(study), "the outcome")
    shown = {each["message_id"]: each["text"] for each in study.tg.answers(MIRA)}
    assert shown[question] == "That question is answered already."
    assert not (study.home.memories / "USER.md").exists()


async def test_a_memory_mode_says_why_nothing_is_written(study: Study) -> None:
    study.honcho(peerName="mira", userPeerAliases=NAMES, userMemoryMode="honcho")
    async with study.running():
        study.calls("memory", action="add", target="user", content="Plays chess")
        await study.ask("I play chess")
    told: dict[str, Any] = json.loads(study.told())
    assert told["success"] is False
    assert "userMemoryMode is honcho" in told["error"]


async def test_the_model_is_told_the_commands_that_there_are(study: Study) -> None:
    study.configure(access={"admins": [f"telegram:{TOBIAS}"]})
    async with study.running():
        await study.ask("Hi")
        mine = study.prompt()
        await study.ask("Hi", user=TOBIAS)
        admins = study.prompt()
    assert re.search(
        r"Memory session \S+, recall mode hybrid\."
        r" The person can send /memory \| /search \| /title \| /forget\.",
        mine,
    )
    assert "hermes-gateway" not in mine
    assert "On the command line: hermes-gateway memory | search." in admins
