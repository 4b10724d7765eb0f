"""Two accounts become one person when both prove to be theirs, and two again when one leaves.

The desk is used as the gateway's commands use it, on a real store, without a platform.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from gateway import app
from gateway.mailbox.remote import RemoteMailbox
from gateway.model.events import EventKind, InboundEvent, Place, PlaceKind, Sender, SenderKind
from gateway.model.ids import AccountId, MessageId, PlaceId, PlatformName, UserId
from gateway.pipeline.addresses import account_of, written
from gateway.pipeline.commands import warming
from gateway.pipeline.linking import Linking
from gateway.pipeline.opening import Opening
from gateway.pipeline.pairing import Codes
from gateway.pipeline.post import Post
from gateway.pipeline.prefetch import Prefetch
from gateway.pipeline.rules import Current
from gateway.policy.session import conversation_key
from gateway.settings.home import Home
from gateway.store import audit, inbox, links, messages, people, sessions
from gateway.store.sqlite import SqliteStore
from tests.fakes.clock import FakeClock
from tests.fakes.household import MIRA as HOUSE_MIRA
from tests.fakes.household import TOBIAS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from gateway.store.engine import Tx
    from gateway.store.inbox import InboxRow
    from tests.integration.pipeline.support import House

MIRA, OTHER, THIRD = ("telegram", "42"), ("discord", "99"), ("slack", "U7")
THIEF = ("telegram", "666")
CONSOLE = ("console", "")


class Desk:
    """One home's linking desk, and who speaks at it."""

    def __init__(self, home: Home, database: Path) -> None:
        self.home = home
        home.gateway.mkdir(parents=True)
        shutil.copy(database, home.database)
        self.clock = FakeClock(datetime(2026, 11, 29, 12, tzinfo=UTC))
        self.store = SqliteStore(home.database)
        self.codes = Codes(b"a secret of this home")
        self.current = Current(app.rules_of(app.load(home, {})))
        post = Post(RemoteMailbox(self.clock), self.clock, app.capabilities())
        self.opening = Opening(self.clock, self.current, app.capabilities())
        self.linking = Linking(
            self.clock,
            self.codes,
            self.current,
            post=post,
            opening=self.opening,
            warm_up=warming(self.current, self.opening, _no_recall(self.clock)),
            bring=lambda _tx, row: self.brought.append(row.id),
        )
        self._numbers = itertools.count(1)
        self.brought: list[int] = []

    def configure(self, *, honcho: Any = None, config: Any = None) -> None:
        self.home.config.write_text(json.dumps(config or {}))
        (self.home.path / "honcho.json").write_text(json.dumps(honcho or {}))
        self.current.rules = app.rules_of(app.load(self.home, {}))

    def event(self, who: tuple[str, str], *, group: bool = False) -> InboundEvent:
        platform, user = who
        sender = Sender(SenderKind.OPERATOR)
        if user:
            sender = Sender(SenderKind.PERSON, UserId(user), name=f"name of {user}")
        kind = PlaceKind.GROUP if group else PlaceKind.DIRECT
        return InboundEvent(
            kind=EventKind.MESSAGE,
            platform=PlatformName(platform),
            account=AccountId("bot"),
            place=Place(kind, PlaceId("group" if group else f"dm-{user}")),
            message=MessageId(str(next(self._numbers))),
            sender=sender,
            sent_at=self.clock.now(),
        )

    def _row(self, tx: Tx, event: InboundEvent) -> InboxRow:
        now = self.clock.now()
        key = conversation_key(
            event, profile="default", group_sessions="per-user", thread_sessions="shared"
        )
        sessions.note(tx, key, event, participant=None, now=now)
        if event.sender.id:
            name = event.sender.name
            people.seen(tx, account_of(event), name=name, language="", now=now)
        said = messages.Said(0, messages.COMMAND, "", "/link", now)
        message = messages.add(tx, said)
        number = inbox.receive(tx, event, now=now)
        assert number is not None
        inbox.admit(tx, number, event, key, message_id=message, raw=b"")
        return inbox.load(tx.conn, number)

    async def link(self, who: tuple[str, str], args: str = "", *, group: bool = False) -> str:
        event = self.event(who, group=group)
        return await self.store.write(
            lambda tx: self.linking.link(tx, self._row(tx, event), args, "en")
        )

    async def unlink(self, who: tuple[str, str], args: str = "") -> str:
        event = self.event(who)
        return await self.store.write(
            lambda tx: self.linking.unlink(tx, self._row(tx, event), args, "en")
        )

    async def sealed(self, what: str) -> str:
        """Return the secret of the newest letter of a kind, as its platform would show it."""
        rows = await self.store.read(
            lambda conn: conn.exec_driver_sql(
                "SELECT key FROM outbox WHERE purpose = 'link' ORDER BY id DESC"
            ).fetchall()
        )
        key = next(row[0] for row in rows if f":{what}" in row[0])
        letter = await self.store.write(lambda tx: self.linking.letter(tx, key))
        secret = letter.text.split(": ", 1)[1].split()
        return secret[1] if what == "approval" else secret[0]

    async def whose(self, who: tuple[str, str]) -> str:
        event = self.event(who)
        identity = await self.store.write(
            lambda tx: self.opening.identify(
                tx,
                event,
                conversation_key(
                    event, profile="d", group_sessions="per-user", thread_sessions="shared"
                ),
            )
        )
        return identity.peer

    async def join(self, asker: tuple[str, str], other: tuple[str, str]) -> str:
        await self.clock.advance(120)
        await self.link(asker)
        await self.link(other, await self.sealed("code"))
        return await self.link(asker, f"confirm {await self.sealed('number')}")

    async def audited(self) -> list[tuple[str, str]]:
        names = await self.store.read(audit.people)
        rows = await self.store.read(lambda conn: audit.listed(conn, limit=99))
        return [(row.action, names.get(row.subject, row.subject)) for row in rows[::-1]]


def _no_recall(clock: FakeClock) -> Prefetch:
    from gateway.memory.lane import Wake

    mailbox = RemoteMailbox(clock)
    return Prefetch(mailbox, None, Wake(mailbox))


@pytest.fixture
async def desk(tmp_path: Path, empty_database: Path) -> AsyncIterator[Desk]:
    one = Desk(Home(tmp_path / "hermes", tmp_path / "user"), empty_database)
    yield one
    await one.store.close()


async def test_both_sides_prove_to_be_theirs_and_are_one_person(desk: Desk) -> None:
    asked = await desk.link(MIRA)
    assert "both accounts are one person for me" in asked
    code = await desk.sealed("code")
    assert "read the number below" in await desk.link(OTHER, f"{code[:4].lower()} {code[4:]}")
    assert await desk.whose(OTHER) != await desk.whose(MIRA)
    number = await desk.sealed("number")
    assert "are one person for me from now on" in await desk.link(MIRA, f"confirm {number}")
    assert await desk.whose(OTHER) == await desk.whose(MIRA) == "42"
    assert await desk.audited() == [
        ("link.requested", "telegram:42"),
        ("link.entered", "discord:99"),
        ("link.confirmed", "discord:99"),
    ]
    stored = b"".join(each.read_bytes() for each in desk.home.gateway.iterdir())
    assert code.encode() not in stored
    assert number.encode() not in stored
    found = await desk.store.read(sessions.listed)
    assert {(one.peer, one.open) for one in found} == {("42", True)}


async def test_a_stolen_code_alone_is_worth_nothing(desk: Desk) -> None:
    await desk.link(MIRA)
    await desk.link(THIEF, await desk.sealed("code"))
    told = await desk.store.read(
        lambda conn: conn.exec_driver_sql(
            "SELECT content FROM outbox WHERE key LIKE 'link:%'"
        ).scalar()
    )
    assert "telegram:666" in str(told)
    for answer in ("That is not the number", "That is not the number", "third wrong number"):
        assert answer in await desk.link(MIRA, "confirm 000000")
    number = await desk.sealed("number")
    assert "Nothing waits" in await desk.link(MIRA, f"confirm {number}")
    assert await desk.whose(THIEF) == "666"


async def test_nobody_but_who_asked_can_confirm(desk: Desk) -> None:
    await desk.link(MIRA)
    await desk.link(OTHER, await desk.sealed("code"))
    number = await desk.sealed("number")
    for other in (OTHER, THIEF):
        assert "Nothing waits" in await desk.link(other, f"confirm {number}")
    assert "nothing is linked" in await desk.link(OTHER, "cancel")
    assert "Nothing waits" in await desk.link(MIRA, f"confirm {number}")
    assert await desk.whose(OTHER) == "discord_99"


async def test_wrong_codes_lock_an_account_out_and_no_other(desk: Desk) -> None:
    await desk.link(MIRA)
    code = await desk.sealed("code")
    assert "No account waits" in await desk.link(MIRA, code), "one's own code"
    for _ in range(5):
        assert "No account waits" in await desk.link(THIEF, "ABCDEFGH")
    assert "5 wrong codes" in await desk.link(THIEF, code)
    assert "read the number" in await desk.link(OTHER, code)
    await desk.clock.advance(3601)
    assert "No account waits" in await desk.link(THIEF, code)


async def test_a_code_is_asked_for_once_a_minute_and_good_for_fifteen(desk: Desk) -> None:
    await desk.link(MIRA)
    first = await desk.sealed("code")
    assert "wait a minute" in await desk.link(MIRA)
    await desk.clock.advance(61)
    await desk.link(MIRA)
    assert "No account waits" in await desk.link(OTHER, first), "a new code voids the old one"
    second = await desk.sealed("code")
    await desk.clock.advance(timedelta(minutes=15).total_seconds())
    assert "No account waits" in await desk.link(OTHER, second)


@pytest.mark.parametrize(
    ("honcho", "group", "said"),
    [
        ({}, True, "only in a direct message"),
        ({"pinUserPeer": True, "peerName": "mira"}, False, "counts as one person already"),
    ],
)
async def test_where_there_is_nothing_to_link(
    desk: Desk, honcho: dict[str, Any], group: bool, said: str
) -> None:
    desk.configure(honcho=honcho)
    assert said in await desk.link(MIRA, group=group)
    assert await desk.audited() == []


async def test_an_unattributed_sender_links_nothing(desk: Desk) -> None:
    desk.configure(honcho={"peerName": ""})
    assert "cannot tell who you are" in await desk.link(CONSOLE)


async def test_the_operators_word_stands(desk: Desk) -> None:
    desk.configure(honcho={"userPeerAliases": {"discord:99": "ada"}})
    await desk.join(MIRA, OTHER)
    assert await desk.whose(MIRA) == "ada", "the free account comes to the named one"
    desk.configure(honcho={"userPeerAliases": {"discord:99": "ada", "slack:U7": "bo"}})
    await desk.clock.advance(120)
    await desk.link(OTHER)
    assert "Whoever runs this gateway" in await desk.link(THIRD, await desk.sealed("code"))
    desk.configure(honcho={"userPeerAliases": {"discord:99": "ada", "telegram:42": "cy"}})
    assert await desk.whose(MIRA) == "cy", "the file wins over a confirmed link"


async def test_a_link_follows_whoever_its_anchor_becomes(desk: Desk) -> None:
    await desk.join(MIRA, OTHER)
    desk.configure(honcho={"userPeerAliases": {"telegram:42": "mira"}})
    assert await desk.whose(OTHER) == "mira"
    desk.configure(honcho={"runtimePeerPrefix": "{platform}_"})
    assert await desk.whose(OTHER) == "telegram_42"


async def test_all_that_hangs_on_an_account_comes_with_it(desk: Desk) -> None:
    await desk.join(OTHER, THIRD)
    assert await desk.whose(THIRD) == "discord_99"
    await desk.join(MIRA, THIRD)
    assert [await desk.whose(one) for one in (OTHER, THIRD)] == ["42", "42"]
    await desk.clock.advance(120)
    await desk.link(THIRD)
    assert "one person for me already" in await desk.link(OTHER, await desk.sealed("code"))


async def test_the_console_is_come_to(desk: Desk) -> None:
    desk.configure(honcho={"peerName": "mira"})
    await desk.join(MIRA, CONSOLE)
    assert await desk.whose(MIRA) == "mira"
    await desk.join(CONSOLE, OTHER)
    assert await desk.whose(OTHER) == "mira"


async def test_what_was_said_before_is_brought_along_by_who_is_linked(desk: Desk) -> None:
    assert "not linked" in await desk.link(MIRA, "bring")
    await desk.join(MIRA, OTHER)
    for each in (MIRA, OTHER):
        assert "what was said before" in await desk.link(each, "bring")
    assert len(desk.brought) == 2


async def test_an_account_leaves_and_the_others_stay(desk: Desk) -> None:
    await desk.join(MIRA, OTHER)
    await desk.join(MIRA, THIRD)
    assert "one person with `telegram:42`" in await desk.unlink(OTHER)
    assert await desk.whose(OTHER) == "42", "asked first"
    assert "Taken apart" in await desk.unlink(OTHER, "confirm")
    assert [await desk.whose(one) for one in (OTHER, THIRD)] == ["discord_99", "42"]
    assert "One person with this account: `slack:U7`" in await desk.unlink(MIRA)
    await desk.unlink(MIRA, "confirm")
    assert await desk.store.read(links.listed) == []
    assert "not linked" in await desk.unlink(MIRA)
    assert [row for row in await desk.audited() if row[0] == "link.removed"] == [
        ("link.removed", "discord:99"),
        ("link.removed", "slack:U7"),
    ]


@pytest.mark.parametrize("yes", [True, False])
async def test_an_admin_may_have_the_last_word(desk: Desk, yes: bool) -> None:
    desk.configure(config={"access": {"link_approval": True}})
    assert "An admin of this gateway has to say yes" in await desk.join(MIRA, OTHER)
    assert await desk.whose(OTHER) == "discord_99"
    code = await desk.sealed("approval")
    act = desk.linking.approve if yes else desk.linking.deny
    assert await desk.store.write(lambda tx: act(tx, "WRONGONE", by="cli")) is None
    request = await desk.store.write(lambda tx: act(tx, code, by="cli"))
    assert request is not None
    assert written(request.account) == "telegram:42"
    assert await desk.whose(OTHER) == ("42" if yes else "discord_99")
    assert await desk.store.write(lambda tx: act(tx, code, by="cli")) is None


async def test_a_running_gateway_links_and_brings_along(house: House) -> None:
    """The whole way, by what the two see in their chats."""
    async with house.running():
        house.tg.say("before", user=TOBIAS)
        await house.answers(1, TOBIAS)
        house.tg.say("/link", user=HOUSE_MIRA)
        asked = await house.answers(2)
        code = re.findall(r"15 minutes: ([A-Z2-9]{8})", asked[1])[0]
        house.tg.say(f"/link {code}", user=TOBIAS)
        consent = await house.answers(3, TOBIAS)
        number = re.findall(r"The number: ([0-9]{6})", consent[2])[0]
        entered = (await house.answers(3))[2]
        assert f"entered by telegram:{TOBIAS} (Tobias)" in entered
        house.tg.say(f"/link confirm {number}", user=HOUSE_MIRA)
        assert "are one person for me from now on" in (await house.answers(4))[3]
        house.tg.say("after", user=TOBIAS)
        await house.answers(5, TOBIAS)
        house.tg.say("/link bring", user=TOBIAS)
        await house.answers(6, TOBIAS)
        await house.settled()
        await house.until(lambda: brought(house) == {"before", "after"}, "brought along")
    assert house.agent.runs[-1].history == []
    for secret in (code, number):
        contents = house.column("SELECT content FROM outbox WHERE content IS NOT NULL")
        assert secret not in str(contents)


def brought(house: House) -> set[str]:
    """Return what the memory service holds as said by the joint person."""
    return {text for _, peer, text in house.remembered() if peer == str(HOUSE_MIRA)}
