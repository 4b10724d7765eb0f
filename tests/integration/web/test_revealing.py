"""Words are shown for a reason, once, to an operator, and the person is told first."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gateway.model.ids import PeerId
from gateway.store import approvals
from gateway.web.doors import Role
from tests.fakes.household import GROUP, MIRA, TOBIAS
from tests.integration.pipeline.support import mention
from tests.integration.web.conftest import audited, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.integration.pipeline.support import House
    from tests.integration.web.conftest import Site

SECRET = "my sister is called Wanda"
NOTE = "likes tea"


@asynccontextmanager
async def telling(house: House) -> AsyncIterator[Site]:
    """Run a gateway in which Mira told something alone, and Tobias in a group only."""
    notes = house.home.person(str(MIRA))
    notes.mkdir(parents=True)
    (notes / "USER.md").write_text(NOTE)
    async with running(house) as served:
        house.tg.say(SECRET, user=MIRA)
        house.tg.say(mention("hello all"), user=TOBIAS, chat=GROUP)
        await house.answers(1)
        await house.answers(1, GROUP)
        await house.settled()
        yield served


async def test_numbers_without_a_word(house: House) -> None:
    async with telling(house) as served, served.signed_in(Role.VIEWER) as client:
        rows = "SELECT count(*) FROM ledger WHERE state = 'saved'"
        await house.until(lambda: house.column(rows) == [4], "all messages at the service")
        found = (await client.get(f"/api/people/{MIRA}/memory")).json()
        assert (found["turns"], found["sessions"], found["messages"]) == (1, 1, {"saved": 1})
        assert [(one["name"], one["entries"]) for one in found["files"]] == [
            ("MEMORY.md", 0),
            ("USER.md", 1),
        ]
        assert isinstance(found["conclusions"], int)
        for path in ("", "/sessions", "/traces", "/people", f"/people/{MIRA}", "/audit"):
            page = (await client.get(path or "/")).text
            assert (SECRET in page, NOTE in page) == (False, False), path
        refused = await client.post(f"/api/people/{MIRA}/reveal", json={"reason": "curious"})
        assert (refused.status_code, SECRET in refused.text) == (403, False)


async def test_who_is_looked_at_is_told_and_it_is_audited(house: House) -> None:
    async with telling(house) as served, served.signed_in() as client:
        page = await client.post(
            f"/people/{MIRA}/reveal", data={"reason": "she asked me_ to look"}
        )
        assert (SECRET in page.text, NOTE in page.text) == (True, True)
        told = (await house.answers(2))[1]
        assert told.startswith("An operator of this gateway has looked")
        assert told.endswith("she asked me_ to look")
        assert await audited(served) == [("memory.revealed", str(MIRA))]


async def test_nothing_is_shown_without_a_reason_unsaid_or_against_the_setting(
    house: House,
) -> None:
    async with telling(house) as served, served.signed_in() as client:
        answer = await client.post(f"/people/{MIRA}/reveal", data={"reason": "  \n "})
        assert (answer.status_code, SECRET in answer.text) == (303, False)
        page = (await client.get(f"/people/{MIRA}")).text
        assert ("say why" in page, SECRET in page) == (True, False)

        # he wrote in a group only
        refused = await client.post(f"/api/people/{TOBIAS}/reveal", json={"reason": "a test"})
        assert (refused.status_code, refused.json()["code"]) == (403, "not_revealed")
        assert "could not be told" in refused.json()["detail"]

        port = served.page.parts.settings.web.port
        house.configure(web={"enabled": True, "port": port, "reveal": "off"})
        refused = await client.post(f"/api/people/{MIRA}/reveal", json={"reason": "a test"})
        assert (refused.status_code, "web.reveal" in refused.json()["detail"]) == (403, True)
        assert await audited(served) == []


async def test_a_write_that_waits_is_decided_where_its_words_are_seen(
    served: Site, house: House
) -> None:
    parts, peer = served.page.parts, PeerId(str(MIRA))
    writes = [approvals.Write(peer, "user", "add", text) for text in (NOTE, "likes cake")]
    now = parts.clock.now()
    first, second = await parts.store.write(
        lambda tx: [approvals.stage(tx, one, now=now)[0] for one in writes]
    )
    async with served.signed_in() as client:
        for id_, yes in ((first, "yes"), (second, "no")):
            done = await client.post(f"/people/{MIRA}/writes/{id_}", data={"yes": yes})
            assert done.status_code == 303
        gone = await client.post(f"/api/people/{MIRA}/writes/{first}", json={"yes": True})
        assert (gone.status_code, gone.json()["code"]) == (404, "no_write")
    assert (house.home.person(str(MIRA)) / "USER.md").read_text().strip() == NOTE
    assert [action for action, _ in await audited(served)] == [
        "memory.write_approved",
        "memory.write_rejected",
    ]
