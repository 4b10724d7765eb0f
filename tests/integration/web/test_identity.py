"""Who is who on the page: seen before it is saved, undone, and never over somebody's change."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gateway.store import links, people
from gateway.web.doors import Role
from tests.fakes.household import MIRA, TOBIAS
from tests.integration.web.conftest import audited, running

if TYPE_CHECKING:
    import httpx

    from tests.integration.pipeline.support import House
    from tests.integration.web.conftest import Site

MIRAS, TOBIASES = f"telegram:{MIRA}", f"telegram:{TOBIAS}"
ALIAS = {"do": "alias", "account": TOBIASES, "person": str(MIRA)}


async def both_wrote(served: Site) -> None:
    """Let two accounts be known."""
    parts, now = served.page.parts, served.page.parts.clock.now()

    def write(tx: Any) -> None:
        for user, name in ((MIRA, "Mira"), (TOBIAS, "Tobias")):
            account = people.Account("telegram", "", str(user))
            people.seen(tx, account, name=name, language="de", now=now)

    await parts.store.write(write)


def entries(house: House) -> dict[str, str]:
    """Return the alias map as the file has it."""
    path = house.home.path / "honcho.json"
    text = json.loads(path.read_text()) if path.exists() else {}
    found: dict[str, str] = text.get("hosts", {}).get("hermes", text).get("userPeerAliases", {})
    return found


def hidden(text: str, name: str) -> str:
    """Return a field that a page carries along."""
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found, f"no field {name}"
    return found[1]


async def save(client: httpx.AsyncClient, shown: str, **fields: Any) -> httpx.Response:
    """Press Save on a page that showed what a change would do."""
    seen = {name: hidden(shown, name) for name in ("expected", "shown")}
    return await client.post("/aliases/apply", data={**fields, **seen})


async def test_people_are_shown_and_found(served: Site) -> None:
    await both_wrote(served)
    async with served.signed_in(Role.VIEWER) as client:
        found = (await client.get("/api/people")).json()
        assert {one["peer"] for one in found} >= {str(MIRA), str(TOBIAS)}
        (mira,) = (await client.get("/api/people?q=mira")).json()
        assert (mira["language"], mira["accounts"][0]["rung"]) == ("de", "raw")
        page = (await client.get("/people?q=mira")).text
        assert (MIRAS in page, TOBIASES in page) == (True, False)
        assert (await client.get("/people/nobody")).status_code == 404
        assert "Nobody has" in (await client.get("/people?q=zzz")).text


async def test_a_change_is_seen_then_saved_then_undone(served: Site, house: House) -> None:
    await both_wrote(served)
    async with served.signed_in() as client:
        shown = (await client.post("/aliases/preview", data=ALIAS)).text
        assert f"<code>{TOBIAS}</code>" in shown
        assert entries(house) == {}
        done = await save(client, shown, **ALIAS, reason="they told me")
        assert (done.status_code, done.headers["location"]) == (303, "/aliases")
        assert entries(house) == {TOBIASES: str(MIRA)}
        page = (await client.get("/aliases")).text
        assert "Saved as change 1" in page
        assert "they told me" in page
        undo = {"do": "undo", "number": "1"}
        shown = (await client.get("/aliases/change", params=undo)).text
        assert (await save(client, shown, **undo)).status_code == 303
        assert entries(house) == {}
        history = (await client.get("/api/identity/history")).json()
        assert [(one["undoes"], one["undone_by"]) for one in history] == [(1, None), (None, 2)]
    assert [action for action, _ in await audited(served)] == [
        "identity.changed",
        "identity.undone",
    ]


async def test_nothing_is_saved_that_was_not_shown(served: Site, house: House) -> None:
    await both_wrote(served)
    async with served.signed_in() as client:
        answer = await client.post("/aliases/apply", data=ALIAS)
        assert (answer.status_code, "Who moves" in answer.text) == (200, True)
        other = {**ALIAS, "person": "somebody"}
        answer = await save(client, answer.text, **other)
        assert (answer.status_code, "<code>somebody</code>" in answer.text) == (200, True)
        assert entries(house) == {}
        assert (await save(client, answer.text, **other)).status_code == 303
        assert entries(house) == {TOBIASES: "somebody"}


async def test_who_comes_second_is_told_and_loses_nothing(served: Site, house: House) -> None:
    await both_wrote(served)
    async with served.signed_in() as first, served.signed_in() as second:
        theirs = {"do": "alias", "account": MIRAS, "person": "mira"}
        shown_first = (await first.post("/aliases/preview", data=theirs)).text
        shown_second = (await second.post("/aliases/preview", data=ALIAS)).text
        await save(first, shown_first, **theirs, reason="hers")
        lost = await save(second, shown_second, **ALIAS, reason="mine")
        assert lost.status_code == 409
        for word in ("Somebody was faster", "hers", f'value="{TOBIASES}"', 'value="mine"'):
            assert word in lost.text
        assert entries(house) == {MIRAS: "mira"}
        assert (await save(second, lost.text, **ALIAS, reason="mine")).status_code == 303
        assert entries(house) == {MIRAS: "mira", TOBIASES: str(MIRA)}


async def test_programs_are_told_who_was_faster(served: Site) -> None:
    await both_wrote(served)
    async with served.program(Role.OPERATOR) as client:
        before = (await client.get("/api/aliases")).json()["revision"]
        body = {"wish": ALIAS, "expected": before, "reason": "a"}
        done = await client.post("/api/identity/apply", json=body)
        assert (done.status_code, done.json()["id"]) == (200, 1)
        wish = {"do": "merge", "person": str(MIRA), "into": "mira"}
        lost = await client.post("/api/identity/apply", json={**body, "wish": wish})
        assert lost.status_code == 409
        (since,) = lost.json()["since"]
        assert (since["id"], since["reason"]) == (1, "a")


async def test_what_cannot_be_is_said_and_cannot_be_saved(served: Site, house: House) -> None:
    await both_wrote(served)
    async with served.signed_in() as client:
        wrong = {"do": "alias", "account": "12 34", "person": "x"}
        shown = (await client.post("/aliases/preview", data=wrong)).text
        assert ('role="alert"' in shown, 'name="expected"' in shown) == (True, False)
        agent = {**ALIAS, "person": "hermes"}
        shown = (await client.post("/aliases/preview", data=agent)).text
        assert re.search(r"<button[^>]* disabled>Save", shown)
        assert (await save(client, shown, **agent)).status_code == 422
        gone = {"do": "undo", "number": "7"}
        assert "there is no change 7" in (await client.get("/aliases/change", params=gone)).text
        split = {"do": "split", "account": TOBIASES}
        assert "name the person" in (await client.get("/aliases/change", params=split)).text
        assert entries(house) == {}


async def test_a_viewer_sees_what_a_change_would_do_and_has_no_button(served: Site) -> None:
    await both_wrote(served)
    async with served.signed_in(Role.VIEWER) as client:
        shown = (await client.post("/aliases/preview", data=ALIAS)).text
        assert ("Who moves" in shown, "formaction" in shown) == (True, False)


async def test_memory_follows_where_that_is_wished(house: House) -> None:
    async with running(house) as served, served.signed_in() as client:
        house.tg.say("my sister is called Wanda", user=TOBIAS)
        await house.answers(1, TOBIAS)
        await house.settled()
        rows = "SELECT count(*) FROM ledger WHERE state = 'saved'"
        await house.until(lambda: house.column(rows) == [2], "messages at the service")
        shown = (await client.post("/aliases/preview", data=ALIAS)).text
        assert "2 message(s) of 1 personal session(s)" in shown
        await save(client, shown, **ALIAS, follow="yes")
        page = (await client.get("/aliases")).text
        assert "Memory follows as job 1" in page
        job = "SELECT state FROM rehome_job"
        await house.until(lambda: house.column(job) == ["done"], "memory that followed")
        words = {
            peer for _, peer, text in house.remembered() if "Wanda" in text and "re:" not in text
        }
        assert words == {str(TOBIAS), str(MIRA)}
        assert (await client.get("/api/identity/jobs")).json()[0]["messages_done"] == 2


async def test_a_link_of_the_people_is_taken_apart(served: Site) -> None:
    await both_wrote(served)
    parts, now = served.page.parts, served.page.parts.clock.now()
    mira, tobias = (people.Account("telegram", "", str(user)) for user in (MIRA, TOBIAS))
    await parts.store.write(lambda tx: links.join(tx, tobias, mira, request="r", now=now))
    async with served.signed_in() as client:
        assert f"Take {TOBIASES} apart" in (await client.get("/aliases")).text
        await client.post("/links/remove", data={"account": TOBIASES})
        assert "was taken apart" in (await client.get("/aliases")).text
        assert (await client.get("/api/links")).json() == {"links": [], "waiting": []}
        gone = await client.post("/api/links/remove", json={"account": TOBIASES})
        assert (gone.status_code, gone.json()["code"]) == (404, "no_link")
        wrong = await client.post("/api/links/decide", json={"code": "AAAA", "yes": True})
        assert wrong.status_code == 404
