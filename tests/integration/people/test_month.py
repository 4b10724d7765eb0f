"""A household's month: six people, fourteen accounts on three platforms, and who is who changes.

After each change every row of the memory service belongs to the person whose account said it,
once; what memory has followed from stays until it is purged and is nobody's recall.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gateway.model.ids import SessionId
from gateway.people import Applied, Change
from gateway.policy.identity_change import PEER_NAME, PIN, PREFIX
from gateway.store.people import Account
from tests.fakes.fuzzing import THOROUGH
from tests.integration.people.street import Killed, Street
from tests.integration.people.town import OPERATOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.integration.people.town import Town


def _telegram(number: int) -> Account:
    return Account("telegram", "", f"70010020{number}")


def _discord(number: int) -> Account:
    return Account("discord", "", f"81234567890123450{number}")


def _slack(number: int) -> Account:
    return Account("slack", "T0HOME", f"U0BBB{number}")


#: who really is who; the configuration learns it bit by bit, and errs
HOUSEHOLD = {
    "mira": (_telegram(0), _discord(0), _slack(0)),
    "tobias": (_telegram(1), _discord(1), _slack(1)),
    "ana": (_telegram(2), _discord(2)),
    "lev": (_telegram(3), _slack(3)),
    "wen": (_discord(4), _slack(4)),
    "otto": (_telegram(5), _discord(5)),
}
ACCOUNTS = [account for accounts in HOUSEHOLD.values() for account in accounts]


def _key(account: Account) -> str:
    return ":".join(filter(None, account))


def _aliases(*people: str) -> dict[str, str]:
    return {_key(account): person for person in people for account in HOUSEHOLD[person]}


@pytest.fixture
async def street(town: Town) -> AsyncIterator[Street]:
    street = Street(town.home)
    async with street.served():
        yield street
    await street.store.close()


async def check(street: Street) -> None:
    """Compare everything the service holds with who said it and whose account that is now."""
    owners = {one.key: one.peer for one in await street.service.accounts()}
    left = {
        home.name: home
        for places in (await street.places()).values()
        for home in places
        if home.state != "active"
    }
    speakers = await street.speakers()
    recalled: Counter[str] = Counter()
    for row in await street.kept():
        session, account, frozen = speakers[row.key]
        if row.session in left:
            assert left[SessionId(row.session)].original, "a copy that is nobody's was left"
            continue
        recalled[row.key] += 1
        wanted = frozen if account is None else owners[_key(account)]
        assert row.peer == wanted, (session, account, row)
    assert recalled == dict.fromkeys(speakers, 1)


class Month:
    """What an operator does about who is who, day by day."""

    def __init__(self, street: Street) -> None:
        self.service = street.service
        self._street = street
        self._made: dict[str, int] = {}

    async def change(self, name: str, wanted: Change | Awaitable[Change]) -> None:
        """Make a change and remember it under a name."""
        found = wanted if isinstance(wanted, Change) else await wanted
        self._made[name] = (await self._street.apply(found)).id or 0

    async def alias(self, name: str, targets: dict[str, str]) -> None:
        """Set aliases."""
        await self.change(name, self.service.aliased(targets))

    async def undo(self, name: str) -> None:
        """Take a change back."""
        result = await self.service.undo(self._made[name], author=OPERATOR)
        assert isinstance(result, Applied)

    def days(self) -> list[Callable[[], Awaitable[None]]]:
        """Return the steps: each person is found in the end, after some errors."""
        two = {_key(one): "mira" for one in HOUSEHOLD["mira"][:2]}
        pin, prefix = Change({PIN: True, PEER_NAME: "mira"}), Change({PREFIX: "{platform}_"})
        merging, splitting = self.service.merging, self.service.splitting
        return [
            lambda: self.alias("two", two),
            lambda: self.change("prefix", prefix),
            lambda: self.change("pin", pin),
            lambda: self.undo("pin"),
            lambda: self.undo("prefix"),
            lambda: self.alias("three", _aliases("mira")),
            lambda: self.change("wrong", merging("700100201", "mira")),
            lambda: self.undo("wrong"),
            lambda: self.alias("tobias", _aliases("tobias")),
            lambda: self.alias("ana", _aliases("ana", "lev")),
            lambda: self.alias("wen", _aliases("wen")),
            lambda: self.change("one", merging("wen", "lev")),
            lambda: self.change("apart", splitting(_key(_discord(4)), "wen")),
            lambda: self.change("too", splitting(_key(_slack(4)), "wen")),
            lambda: self.alias("by id", {_key(_discord(5)): "700100205"}),
            lambda: self.change("by name", merging("700100205", "otto")),
        ]


async def test_a_month_of_changes(street: Street) -> None:
    deaths = 0
    days = list(enumerate(Month(street).days()))
    for day, happens in days if THOROUGH else days[:8]:
        for account in ACCOUNTS[day % 5 :: 5] if day else ACCOUNTS:
            await street.say(account)
        await street.captured()
        await happens()
        for account in ACCOUNTS[day % 7 :: 7]:
            await street.say(account)
        if day % 2:
            street.kill(1, after=day % 4 == 1)
            try:
                await street.follow()
            except Killed:
                deaths += 1
            await street.restart()
        await street.follow()
        await check(street)
        if day % 4 == 2:
            await street.purge()
            await check(street)
            assert (await street.rehoming.preview()).kept == 0
    assert deaths >= 1
    if not THOROUGH:
        return
    assert deaths >= 5
    found = {one.key: one.peer for one in await street.service.accounts()}
    assert found == {**_aliases(*HOUSEHOLD), "console": "system-user"}
    await street.purge()
    await check(street)
    assert len(await street.kept()) == len(await street.speakers())
