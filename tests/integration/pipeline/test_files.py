"""Files through a whole gateway: what the agent gets, what the person is told, what is kept."""

from __future__ import annotations

import asyncio
import stat
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gateway.model.events import AttachmentKind
from gateway.model.files import AttachedFile, FileProblem
from gateway.pipeline import retention
from gateway.settings.schema import RetentionSettings
from gateway.store import audit
from gateway.store.sqlite import SqliteStore
from tests.emulators.speech import SpeechStub
from tests.fakes.clock import FakeClock
from tests.fakes.household import GROUP, MIRA, STRANGER, TOBIAS
from tests.integration.pipeline.support import House, mention

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
OGG = b"OggS" + bytes(60)


def content(file: AttachedFile) -> bytes:
    """What was fetched."""
    assert file.path is not None
    return Path(file.path).read_bytes()


def mode(file: AttachedFile) -> int:
    """The mode of what was fetched."""
    assert file.path is not None
    return Path(file.path).stat().st_mode


def photo(house: House, content: bytes = PNG) -> list[dict[str, Any]]:
    return [house.tg.file(content, name="p.png") | {"width": 3, "height": 2}]


def document(house: House, content: bytes, name: str, mime: str = "") -> dict[str, Any]:
    return house.tg.file(content, name="x") | {"file_name": name, "mime_type": mime}


def voice(house: House) -> dict[str, Any]:
    return house.tg.file(OGG, name="v.ogg") | {"mime_type": "audio/ogg", "duration": 12}


def files_of(house: House, run: int = 0) -> list[AttachedFile]:
    """Return the files of a run in the order of its messages."""
    return [file for one in house.agent.runs[run].request.spoken for file in one.files]


def fetched(house: House) -> int:
    return len(house.tg.calls_of("download"))


def asked(house: House) -> int:
    return len(house.tg.calls_of("getFile")) + fetched(house)


@pytest.fixture
async def speech() -> AsyncIterator[SpeechStub]:
    async with SpeechStub() as stub:
        yield stub


def listening(house: House, speech: SpeechStub) -> None:
    """Set the transcription endpoint up."""
    house.configure(voice={"transcribe": {"base_url": speech.base_url, "model": "ear"}})


# --- what comes in --------------------------------------------------------------------------


async def test_a_photo_reaches_the_agent_and_lies_private_under_our_name(house: House) -> None:
    async with house.running():
        house.tg.say("look", user=MIRA, photo=photo(house))
        assert await house.answers(1) == ["re: look"]
        await house.settled()
    [file] = files_of(house)
    assert (file.kind, file.mime, file.problem) == (AttachmentKind.IMAGE, "image/png", None)
    assert file.path is not None
    assert content(file) == PNG
    assert file.path.parent == house.home.files
    assert stat.S_IMODE(mode(file)) == 0o600
    assert stat.S_IMODE(house.home.files.stat().st_mode) == 0o700
    assert house.column("SELECT detail FROM checkpoint WHERE step = 'files'") == [""]


async def test_a_picture_without_words_is_answered_and_no_words_are_made_up(house: House) -> None:
    async with house.running():
        house.tg.say(user=MIRA, photo=photo(house))
        await house.answers(1)
        await house.settled()
        house.tg.say("and now?", user=MIRA)
        await house.answers(2)
        await house.settled()
    assert house.ledger("m.role, m.text, l.reason")[0] == ("user", "", "no_text")
    assert house.agent.runs[1].history == ["", "re: "]


async def test_a_text_document_is_read(house: House) -> None:
    async with house.running():
        house.tg.say("sum up", user=MIRA, document=document(house, "Größe\n1,2".encode(), "t.csv"))
        await house.answers(1)
    [file] = files_of(house)
    assert (file.name, file.text, file.cut) == ("t.csv", "Größe\n1,2", False)


async def test_albums_are_one_turn_in_the_order_of_their_messages(house: House) -> None:
    """H-37: arrival 23, 21, 22; a late item, a redelivery and another chat's album."""
    house.agent.hold()
    async with house.running():

        def item(number: int, user: int, album: str, **more: Any) -> int:
            place = {"id": user, "type": "private"}
            sender = {"id": user, "is_bot": False, "first_name": "A"}
            said = {"message_id": number, "chat": place, "from": sender, "date": 1_900_000_000}
            held = photo(house, PNG + str(number).encode())
            message = {**said, "media_group_id": album, "photo": held, **more}
            return house.tg.push({"message": message})

        item(23, MIRA, "g1", caption="after")
        item(7, TOBIAS, "g1")
        first = item(21, MIRA, "g1", caption="before")
        item(22, MIRA, "g1")
        house.tg.duplicate(first)
        await house.runs(2)
        item(24, MIRA, "g1", caption="late")
        await house.taken()
        house.agent.release()
        await house.answers(2)
        await house.answers(1, TOBIAS)
        await house.settled()
    said = [run.texts for run in house.agent.runs]
    assert sorted(said) == [[""], ["before", "", "after"], ["late"]]
    album = house.agent.runs[said.index(["before", "", "after"])]
    contents = [content(f) for s in album.request.spoken for f in s.files if f.path]
    assert contents == [PNG + b"21", PNG + b"22", PNG + b"23"]
    assert sorted(house.words()) == sorted(["before", "", "after", "late", ""])
    assert fetched(house) == 5


async def test_forwarded_media_comes_along(house: House) -> None:
    origin = {"type": "hidden_user", "sender_user_name": "Shop", "date": 1}
    async with house.running():
        house.tg.say("sale", user=MIRA, photo=photo(house), forward_origin=origin)
        await house.answers(1)
    spoken = house.agent.runs[0].request.spoken[0]
    assert spoken.text == ""
    assert spoken.forward is not None
    assert spoken.forward.text == "sale"
    assert [file.mime for file in spoken.files] == ["image/png"]


NAMES = (
    "../../SOUL.md",
    "/etc/cron.d/x",
    "..\\..\\a",
    "a\u0000.txt",
    ".",
    "CON",
    "x" * 300 + ".txt",
    "\u202etxt.exe",
    "report.pdf",
    "report.pdf",
)


async def test_no_name_leaves_the_folder_or_overwrites_anything(house: House) -> None:
    """H-39."""
    house.home.soul.write_text("mine")
    async with house.running():
        for number, name in enumerate(NAMES):
            user = (MIRA, TOBIAS)[number % 2]
            house.tg.say(user=user, document=document(house, f"text {number}".encode(), name))
        await house.until(
            lambda: sum(len(run.request.spoken) for run in house.agent.runs) == len(NAMES), "all"
        )
        await house.settled()
    held = [f for run in range(len(house.agent.runs)) for f in files_of(house, run)]
    assert sorted(file.text for file in held) == [f"text {n}" for n in range(len(NAMES))]
    assert len({file.path for file in held}) == len(NAMES)
    assert {file.path.parent for file in held if file.path} == {house.home.files}
    assert all(len(file.name) <= 120 and file.name.isprintable() for file in held)
    assert house.home.soul.read_text() == "mine"


# --- what does not come in ------------------------------------------------------------------


async def test_a_file_that_failed_alone_is_told_and_no_model_is_asked(house: House) -> None:
    """H-38."""
    house.tg.drop("getFile", times=9)
    async with house.running():
        house.tg.say(user=MIRA, document=document(house, b"x", "plan.txt"))
        [told] = await house.answers(1)
        await house.settled()
    assert "plan.txt: it could not be fetched." in told
    assert house.agent.runs == []
    assert house.ledger() == []
    assert house.column("SELECT state FROM turn") == ["settled"]
    assert len(house.tg.calls_of("getFile")) == 3


async def test_a_download_is_tried_again(house: House) -> None:
    house.tg.drop("download")
    house.tg.fail("getFile", 429, retry_after=2)
    async with house.running():
        house.tg.say("hi", user=MIRA, photo=photo(house))
        await house.answers(1)
    assert [file.problem for file in files_of(house)] == [None]


async def test_words_are_answered_without_the_file_which_is_named_to_both(house: House) -> None:
    async with house.running():
        bogus = document(house, b"", "late.txt") | {"file_id": "unknown"}
        house.tg.say("read this", user=MIRA, document=bogus)
        told, answer = await house.answers(2)
        await house.settled()
    assert "late.txt: it is not there any more." in told
    assert answer == "re: read this"
    assert [(f.name, f.problem) for f in files_of(house)] == [("late.txt", FileProblem.GONE)]
    assert house.words() == ["read this"]


@pytest.mark.parametrize("announced", [True, False])
async def test_what_is_too_large_is_not_taken(house: House, announced: bool) -> None:
    """H-38: announced as too large it is not even asked for; else it is cut off on the way."""
    house.configure(attachments={"max_mb": 1})
    held = document(house, bytes(1 << 21), "big.fig")
    if not announced:
        del held["file_size"]
    async with house.running():
        house.tg.say(user=MIRA, document=held)
        [told] = await house.answers(1)
    assert "big.fig: too large" in told
    assert "I can take up to 1 MB" in told
    assert asked(house) == (0 if announced else 2)
    assert not house.home.files.exists() or list(house.home.files.iterdir()) == []


async def test_nothing_of_a_stranger_is_ever_asked_for(house: House) -> None:
    """H-40."""
    async with house.running():
        house.tg.say("hi", user=STRANGER, photo=photo(house))
        house.tg.say(mention("hi"), user=STRANGER, chat=GROUP, voice=voice(house))
        house.tg.say("not for the bot", user=MIRA, chat=GROUP, photo=photo(house))
        await house.settled()
    assert asked(house) == 0
    assert house.rows("SELECT * FROM file") == []


# --- speech ---------------------------------------------------------------------------------


async def test_a_voice_message_becomes_its_speakers_words(
    house: House, speech: SpeechStub
) -> None:
    listening(house, speech)
    speech.words = "My dog is called Rex."
    async with house.running():
        house.tg.say(user=MIRA, voice=voice(house))
        assert await house.answers(1) == ["re: 🎤 My dog is called Rex."]
        await house.settled()
    [heard] = speech.heard
    assert (heard.content, heard.model, heard.name) == (OGG, "ear", "recording.ogg")
    assert house.words() == ["🎤 My dog is called Rex."]
    assert [file.text for file in files_of(house)] == [""]


async def test_a_forwarded_voice_is_somebody_elses(house: House, speech: SpeechStub) -> None:
    listening(house, speech)
    origin = {"type": "hidden_user", "sender_user_name": "Ann", "date": 1}
    async with house.running():
        house.tg.say(user=MIRA, voice=voice(house), forward_origin=origin)
        await house.answers(1)
        await house.settled()
    assert [file.text for file in files_of(house)] == ["hello"]
    assert house.words() == [""]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        pytest.param("", 200, "I heard no words in it", id="silence"),
        pytest.param("x", 400, "I could not make out the recording", id="refused"),
        pytest.param(None, 0, "I cannot listen to recordings here", id="no endpoint"),
    ],
)
async def test_a_voice_that_cannot_be_written_down_says_so(
    house: House, speech: SpeechStub, words: str | None, status: int, told: str
) -> None:
    """H-38: with a caption the caption is answered, without one nothing is made up."""
    if words is not None:
        listening(house, speech)
        speech.words = words
    if status == 400:
        speech.fail(400, times=2)
    async with house.running():
        house.tg.say(user=MIRA, voice=voice(house))
        texts = await house.answers(1)
        await house.settled()
        assert house.agent.runs == []
        house.tg.say("read this", user=MIRA, voice=voice(house))
        texts = await house.answers(3)
        await house.settled()
    assert told in texts[0]
    assert told in texts[1]
    assert texts[2] == "re: read this"
    assert house.words() == ["read this"]
    assert words is not None or asked(house) == 0


async def test_an_endpoint_that_stumbles_is_asked_again(house: House, speech: SpeechStub) -> None:
    listening(house, speech)
    speech.fail(503)
    async with house.running():
        house.tg.say(user=MIRA, voice=voice(house))
        assert await house.answers(1) == ["re: 🎤 hello"]
    assert len(speech.heard) == 2


# --- stops, crashes, time -------------------------------------------------------------------


async def test_a_stop_ends_a_slow_download_at_once(house: House) -> None:
    house.tg.slow("download", 30)
    async with house.running():
        house.tg.say("look", user=MIRA, photo=photo(house))
        await house.tg.wait_for_calls("download")
        house.tg.say("/stop", user=MIRA)
        texts = await house.answers(1)
        await house.settled()
    assert texts == ["Stopped."]
    assert house.words() == ["look"]


async def test_a_slow_download_holds_nobody_else_up(house: House) -> None:
    house.tg.slow("download", 30)
    async with house.running():
        house.tg.say("look", user=MIRA, photo=photo(house))
        await house.tg.wait_for_calls("download")
        house.tg.say("hi", user=TOBIAS)
        assert await house.answers(1, TOBIAS) == ["re: hi"]
        house.tg.say("/stop", user=MIRA)
        await house.settled()


async def test_a_crash_behind_the_download_fetches_nothing_again(
    house: House, speech: SpeechStub
) -> None:
    listening(house, speech)
    house.agent.hold()
    gateway, stop = house.assemble(), asyncio.Event()
    run = asyncio.create_task(gateway.run(stop))
    house.tg.say(user=MIRA, voice=voice(house))
    await house.runs(1)
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    house.agent.release()
    async with house.running():
        assert await house.answers(1) == ["re: 🎤 hello"]
        await house.settled()
    assert fetched(house) == 1
    assert len(speech.heard) == 1


async def test_files_go_with_the_raw_payloads(house: House) -> None:
    async with house.running():
        house.tg.say("look", user=MIRA, photo=photo(house))
        await house.answers(1)
        await house.settled()
    assert len(list(house.home.files.iterdir())) == 1
    keep, store = RetentionSettings(raw=timedelta(days=3)), SqliteStore(house.home.database)
    await store.write(lambda tx: audit.record(tx, "seen", actor="test", now=house.clock.now()))
    try:
        for days, dropped in ((2, 0), (4, 1), (5, 0)):
            clock = FakeClock(house.clock.now() + timedelta(days=days))
            swept = await retention.sweep(store, clock, keep, house.home.files)
            assert (swept["files"], swept["audit"]) == (dropped, 0)
        clock = FakeClock(house.clock.now() + timedelta(days=366))
        swept = await retention.sweep(store, clock, keep, house.home.files)
        assert (swept["files"], swept["audit"]) == (0, 2)
    finally:
        await store.close()
    assert list(house.home.files.iterdir()) == []
    assert house.column("SELECT state FROM file") == ["dropped"]
