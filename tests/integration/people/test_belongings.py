"""What no message holds follows as well: conclusions by hand, cards, memory files, search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.memory import files
from gateway.memory.by_hand import ByHand
from gateway.memory.entries import Target, dump
from gateway.model.ids import PeerId, SessionId
from gateway.people.belongings import share_out
from gateway.store import recall, search, sending
from gateway.store.people import Account
from gateway.store.search import Scope
from gateway.text import terms
from tests.integration.people.street import Killed, Street
from tests.integration.people.town import OPERATOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.integration.people.town import Town

MIRA = Account("telegram", "", "700100200")
TOBIAS = Account("telegram", "", "700100201")
OLD, NEW, AGENT = PeerId("700100200"), PeerId("mira"), PeerId("hermes")


@pytest.fixture
async def street(town: Town) -> AsyncIterator[Street]:
    street = Street(town.home)
    async with street.served():
        for account in (MIRA, TOBIAS):
            await street.say(account, f"a word of {account.user_id}")
        await street.captured()
        yield street
    await street.store.close()


async def _session(street: Street, account: Account) -> SessionId:
    speakers = (await street.speakers()).values()
    return next(SessionId(name) for name, said, _ in speakers if said == account)


async def _conclude(street: Street, text: str, observed: PeerId = OLD) -> None:
    session = await _session(street, MIRA if observed == OLD else TOBIAS)
    ref = await street.memory.conclude(AGENT, observed, text, session)
    hands = ByHand(street.store, street.time)
    await hands.concluded(AGENT, observed, session, text=text, ref=ref)


async def _card(street: Street, observed: str, *facts: str) -> None:
    await street.memory.set_card(AGENT, PeerId(observed), facts)
    await ByHand(street.store, street.time).carded(AGENT, PeerId(observed), facts)


async def _known(street: Street, peer: PeerId) -> list[str]:
    return [text for _, text in await street.memory.conclusions(AGENT, peer)]


async def test_a_conclusion_by_hand_follows_and_comes_back(street: Street) -> None:
    await _conclude(street, "likes tea")
    await _conclude(street, "likes rain", PeerId(TOBIAS.user_id))
    applied = await street.set(telegram_700100200="mira")
    await street.follow()
    assert await _known(street, NEW) == ["likes tea"]
    await street.follow()
    assert await _known(street, NEW) == ["likes tea"]
    assert await _known(street, OLD) == ["likes tea"]
    assert await _known(street, PeerId(TOBIAS.user_id)) == ["likes rain"]
    assert applied.id is not None
    await street.service.undo(applied.id, author=OPERATOR)
    await street.follow()
    assert (await _known(street, NEW), await _known(street, OLD)) == ([], ["likes tea"])


async def test_a_purge_takes_the_former_conclusion(street: Street) -> None:
    await _conclude(street, "likes tea")
    applied = await street.set(telegram_700100200="mira")
    await street.follow()
    await street.purge()
    assert (await _known(street, NEW), await _known(street, OLD)) == (["likes tea"], [])
    assert applied.id is not None
    await street.service.undo(applied.id, author=OPERATOR)
    await street.follow()
    assert (await _known(street, NEW), await _known(street, OLD)) == ([], ["likes tea"])


async def test_a_card_follows_whole_and_comes_back(street: Street) -> None:
    await _card(street, OLD, "has a dog", "lives in Riga")
    await _card(street, TOBIAS.user_id, "lives in Riga", "sings")
    applied = await street.apply(await street.service.merging(OLD, TOBIAS.user_id))
    tobias = PeerId(TOBIAS.user_id)
    await street.follow()
    both = ("lives in Riga", "sings", "has a dog")
    assert await street.memory.card(AGENT, tobias) == both
    assert await street.memory.card(AGENT, OLD) == ("has a dog", "lives in Riga")
    assert applied.id is not None
    await street.service.undo(applied.id, author=OPERATOR)
    await street.follow()
    assert await street.memory.card(AGENT, tobias) == ("lives in Riga", "sings")


def _write(street: Street, peer: str, target: Target, *entries: str) -> None:
    path = street.files.path(PeerId(peer), target)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump(entries))


async def test_files_are_joined_without_doubles_and_nothing_is_lost(street: Street) -> None:
    long, longer = "x" * 900, "y" * 900
    _write(street, OLD, Target.USER, "plays chess", longer)
    _write(street, TOBIAS.user_id, Target.USER, long, "plays chess")
    _write(street, OLD, Target.MEMORY, "waters the plants")
    tobias = PeerId(TOBIAS.user_id)
    applied = await street.apply(await street.service.merging(OLD, tobias))
    job = await street.follow()
    assert await street.files.read(tobias, Target.USER) == (long, "plays chess")
    assert await street.files.read(tobias, Target.MEMORY) == ("waters the plants",)
    aside = street.home.person(tobias) / f"USER.from-{OLD}.md"
    assert files.read(aside) == (longer,)
    assert str(aside) in job.notes[0]
    assert await street.files.read(OLD, Target.USER) == ("plays chess", longer)
    assert applied.id is not None
    await street.service.undo(applied.id, author=OPERATOR)
    await street.follow()
    assert await street.files.read(tobias, Target.MEMORY) == ()
    assert files.read(aside) == ()


async def test_a_purge_empties_what_stands_elsewhere(street: Street) -> None:
    _write(street, OLD, Target.USER, "plays chess")
    await _card(street, OLD, "has a dog")
    await street.apply(await street.service.merging(OLD, TOBIAS.user_id))
    await street.follow()
    await street.purge()
    assert await street.files.read(OLD, Target.USER) == ()
    assert await street.files.read(PeerId(TOBIAS.user_id), Target.USER) == ("plays chess",)
    assert await street.memory.card(AGENT, OLD) == ()


async def test_what_a_split_off_account_leaves_stays(street: Street) -> None:
    other = Account("discord", "", "812345678901234567")
    await street.set(telegram_700100200="mira", discord_812345678901234567="mira")
    await street.say(other)
    await street.follow()
    _write(street, "mira", Target.USER, "plays chess")
    await street.apply(await street.service.splitting("discord:812345678901234567"))
    await street.follow()
    assert await street.files.read(NEW, Target.USER) == ("plays chess",)
    assert await street.files.read(PeerId("812345678901234567"), Target.USER) == ()


async def test_a_kill_between_note_and_gift_costs_nothing(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(street, OLD, Target.USER, "plays chess")
    await _card(street, OLD, "has a dog")

    async def killed(*_args: object) -> None:
        raise Killed

    await street.apply(await street.service.merging(OLD, TOBIAS.user_id))
    with monkeypatch.context() as patched:
        patched.setattr(street.following.memory, "set_card", killed)
        with pytest.raises(Killed):
            await street.follow()
    await street.restart()
    await street.follow()
    assert await street.files.read(PeerId(TOBIAS.user_id), Target.USER) == ("plays chess",)
    assert await street.memory.card(AGENT, PeerId(TOBIAS.user_id)) == ("has a dog",)


async def test_search_and_recall_follow(street: Street) -> None:
    async def found(peer: str) -> int:
        scope, query = Scope(peer=PeerId(peer)), terms.parse("word")
        return len(await street.store.read(lambda conn: search.find(conn, query, scope, limit=9)))

    await street.store.write(lambda tx: search.fill(tx, limit=99))
    assert (await found(OLD), await found("mira")) == (2, 0)
    session = await _session(street, MIRA)
    await street.set(telegram_700100200="mira")
    await street.follow()
    assert (await found(OLD), await found("mira")) == (0, 2)
    (name,) = await street.store.read(lambda conn: recall.sessions_of(conn, NEW))
    assert name != session
    assert await street.store.read(lambda conn: recall.sessions_of(conn, OLD)) == []
    assert await street.store.read(lambda conn: sending.record(conn, name)) is None


@pytest.mark.parametrize(
    ("entries", "own", "limit", "shared"),
    [
        (["a", "b", "a"], ["b"], 99, (["a"], [])),
        (["aaaa", "b"], ["cc"], 7, (["b"], ["aaaa"])),
        ([], ["cc"], 1, ([], [])),
        (["a"], ["long enough already"], 5, ([], ["a"])),
    ],
)
def test_share_out(
    entries: list[str], own: list[str], limit: int, shared: tuple[list[str], list[str]]
) -> None:
    assert share_out(entries, own, limit) == shared
