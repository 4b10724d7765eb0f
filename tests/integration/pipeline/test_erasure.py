"""After an erasure the person is nowhere, and everybody else is whole.

The canary is in all that Mira says, is answered, is quoted with and has noted down.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

from gateway import app
from gateway.model.errors import MemoryUnavailableError
from gateway.people.estate import NobodyError
from gateway.settings.home import make_private_folder
from gateway.store import search
from gateway.store.sqlite import SqliteStore
from tests.fakes.household import FORUM, MIRA, TOBIAS
from tests.fakes.memory import FakeMemory
from tests.integration.pipeline.support import mention

if TYPE_CHECKING:
    from gateway.people.erasure import Left
    from gateway.store.estate import Holdings
    from tests.integration.pipeline.support import House

CANARY = "Xylophonwald"


def everything(house: House) -> bytes:
    """Return all bytes of the home but its settings, payloads unpacked."""
    kept = (house.home.config, house.home.env)
    files = [one for one in house.home.path.rglob("*") if one.is_file() and one not in kept]
    packed = house.column("SELECT raw FROM inbox WHERE raw IS NOT NULL")
    return b"\n".join(
        [one.read_bytes() for one in files] + [zlib.decompress(one) for one in packed]
    )


async def talk(house: House) -> None:
    """Let Mira and Tobias talk, alone and in a topic, and note something down for each."""
    topic = house.tg.topic(FORUM, "Plans", user=TOBIAS)
    house.tg.say(f"{CANARY} one", user=MIRA)
    await house.answers(1)
    house.tg.say("harbour", user=TOBIAS)
    await house.answers(1, TOBIAS)
    said = house.tg.say(mention(f"{CANARY} in the topic"), user=MIRA, chat=FORUM, thread=topic)
    await house.answers(1, FORUM)
    house.tg.say(mention("lighthouse"), user=TOBIAS, chat=FORUM, thread=topic, reply_to=said)
    await house.answers(2, FORUM)
    house.tg.say(f"/title {CANARY} talk", user=MIRA)
    await house.answers(2)
    await house.settled()
    for user, words in ((MIRA, CANARY), (TOBIAS, "Likes ships")):
        folder = make_private_folder(house.home.person(str(user)))
        (folder / "MEMORY.md").write_text(words)


async def erase(house: House, who: str = f"telegram:{MIRA}") -> tuple[Holdings, Left]:
    """Do as the command does."""
    loaded = app.load(house.home, {})
    store = SqliteStore(house.home.database)
    try:
        desk = app.erasure_desk(house.home, loaded, store)
        counts = await desk.erase(who, by="test")
        async with app.memory_of(loaded, store) as memory:
            return counts, await desk.carry_on(memory, own_service=True)
    finally:
        await store.close()


async def said_to_mira(house: House, words: str) -> None:
    """Wait for an answer with these words in it."""
    await house.tg.wait_for(
        lambda answers: any(words in one.get("text", "") for one in answers),
        chat=MIRA,
        timeout=8.0,
    )


async def test_the_erased_are_nowhere_and_the_others_whole(house: House) -> None:
    async with house.running():
        await talk(house)
        await house.until(lambda: len(house.remembered()) == 8, "remembered")
    assert CANARY.encode() in everything(house)
    before = [row for row in house.ledger("l.peer, m.role, m.text") if CANARY not in row[2]]
    counts, left = await erase(house)
    assert (counts.turns, counts.messages) == (2, 5)
    assert counts.accounts == (f"telegram:{MIRA}",)
    assert (len(counts.sessions), len(counts.shared_sessions)) == (1, 1)
    assert (left.service, left.compacted) == ("", True)
    rest = everything(house)
    assert CANARY.encode() not in rest
    assert str(MIRA).encode() not in rest
    assert sorted(house.ledger("l.peer, m.role, m.text")) == sorted(before)
    assert house.home.person(str(TOBIAS)).joinpath("MEMORY.md").read_text() == "Likes ships"
    store = SqliteStore(house.home.database)
    report = await store.read(search.check)
    await store.close()
    assert report.sound
    assert house.audited()[-1] == ("person.erased", "test", "")

    async with house.running():
        house.tg.duplicate()
        await house.until(lambda: len(house.remembered()) == 4, "remembered anew")
        house.tg.say("hello again", user=MIRA)
        assert (await house.answers(3))[2] == "re: hello again"
        await house.settled()
    told = [text for _, _, text in house.remembered()]
    assert [text for text in told if "lighthouse" in text or "harbour" in text] == [
        *("harbour", "re: harbour"),
        *("lighthouse", "re: lighthouse"),
    ]
    assert house.agent.runs[-1].history == []


async def test_what_the_service_does_not_forget_is_asked_again(house: House) -> None:
    async with house.running():
        house.tg.say(CANARY, user=MIRA)
        await house.answers(1)
        await house.settled()
    loaded, store = app.load(house.home, {}), SqliteStore(house.home.database)
    try:
        desk = app.erasure_desk(house.home, loaded, store)
        with pytest.raises(NobodyError, match="people list"):
            await desk.erase("nobody", by="test")
        with pytest.raises(NobodyError, match="is the agent"):
            await desk.erase("hermes", by="test")
        assert house.column("SELECT count(*) FROM turn") == [1]
        await desk.erase(f"telegram:{MIRA}", by="test")
        service = FakeMemory(error=MemoryUnavailableError("away", code="memory_unavailable"))
        left = await desk.carry_on(service, own_service=False)
        assert left.service == "away"
        assert house.column("SELECT count(*) FROM turn") == [0]
        service.error = None
        service.cards["hermes", str(MIRA)] = ("Likes chess",)
        left = await desk.carry_on(service, own_service=False)
        assert left.service == ""
        assert service.calls["delete_session"] == 1
        assert service.cards["hermes", str(MIRA)] == ()
        assert house.column("SELECT count(*) FROM erasure") == [0]
        asked = service.calls.total()
        await desk.carry_on(service, own_service=False)
        assert service.calls.total() == asked
    finally:
        await store.close()


async def test_a_person_takes_their_data_along_and_has_it_forgotten(house: House) -> None:
    async with house.running():
        house.tg.say(f"{CANARY} one", user=MIRA)
        await house.answers(1)
        house.tg.say("harbour", user=TOBIAS)
        await house.answers(1, TOBIAS)
        house.tg.say("/export", user=MIRA)
        told = await house.tg.wait_for(
            lambda answers: any("document" in one for one in answers), chat=MIRA, timeout=8.0
        )
        assert "putting it together" in str(told)
        [archive] = [one for one in house.home.files.iterdir() if one.suffix == ".zip"]
        with zipfile.ZipFile(archive) as packed:
            talk = packed.read("talk.txt").decode()
            said = json.loads(packed.read("messages.json"))
        assert f"Mira: {CANARY} one" in talk
        assert f"agent: re: {CANARY} one" in talk
        assert "harbour" not in talk
        assert {row["role"] for row in said} == {"user", "assistant", "command"}
        assert archive.stat().st_mode & 0o777 == 0o600
        house.tg.say("/forget", user=MIRA)
        await said_to_mira(house, "/forget confirm")
        assert house.column("SELECT count(*) FROM turn") == [2], "asked first"
        house.tg.say("/forget confirm", user=MIRA)
        await said_to_mira(house, "It is forgotten.")
        await house.settled()
        assert not archive.exists()
        house.tg.say("hello", user=MIRA)
        await said_to_mira(house, "re: hello")
        await house.settled()
        assert house.agent.runs[-1].history == []
    assert CANARY.encode() not in everything(house)
    assert sorted(house.words()) == ["harbour", "hello"]
    done = house.audited("person")
    assert [action for action, _, _ in done] == ["person.exported", "person.erased"]
    assert str(MIRA) not in str(done), "whose they were cannot be told any more"
