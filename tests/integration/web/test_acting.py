"""What operators do on the page and by the API, and what is left of it: grants, parts, audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.model.ids import AccountId, PlaceId, PlatformName
from gateway.model.outbound import Address, PartState
from gateway.pipeline.lockout import WRONG_LIMIT
from gateway.store import outbox, pairing, people
from gateway.text.markup import parse
from gateway.web.doors import Role
from tests.fakes.household import BOT, STRANGER
from tests.integration.web.conftest import audited

if TYPE_CHECKING:
    import httpx

    from tests.integration.web.conftest import Site

ACCOUNT = f"telegram:{STRANGER}"
WHERE = Address(PlatformName("telegram"), AccountId(str(BOT)), PlaceId(str(STRANGER)), None)


async def a_request(served: Site) -> tuple[str, str]:
    """Let a stranger ask; return the request's id and its code."""
    parts, name = served.page.parts, "p_request"
    codes = parts.pairing._codes
    now = parts.clock.now()
    request = pairing.Request(
        id=name,
        account=people.Account("telegram", "", str(STRANGER)),
        address=WHERE,
        language="en",
        code_hash=codes.hash(codes.of(name)),
        created_at=now,
        expires_at=now.replace(year=now.year + 1),
    )
    await parts.store.write(lambda tx: pairing.add(tx, request))
    return name, codes.of(name)


async def a_part(served: Site, state: PartState) -> int:
    """Store a part in some state; return its number."""
    parts, now = served.page.parts, served.page.parts.clock.now()

    def store(tx: Any) -> int:
        letter = outbox.Letter(f"n{state}", WHERE, [parse("a notice")])
        (part,) = outbox.post(tx, letter, now=now)
        if state is not PartState.WAITING:
            outbox.conclude(tx, part, state, error="refused", now=now)
        return part

    return await parts.store.write(store)


async def granted(client: httpx.AsyncClient) -> list[tuple[str, bool]]:
    found = (await client.get("/api/pairing")).json()["granted"]
    return [(one["account"], one["admin"]) for one in found]


async def test_a_code_is_approved_on_the_page(served: Site) -> None:
    _, code = await a_request(served)
    async with served.signed_in() as client:
        assert ACCOUNT in (await client.get("/pairing")).text
        answer = await client.post("/pairing/approve", data={"code": code.lower()})
        assert (answer.status_code, answer.headers["location"]) == (303, "/pairing")
        assert "The person was told" in (await client.get("/pairing")).text
        assert "The person was told" not in (await client.get("/pairing")).text
        assert await granted(client) == [(ACCOUNT, False)]
    assert await audited(served) == [("pairing.approved", ACCOUNT)]


async def test_wrong_codes_are_said_and_counted(served: Site) -> None:
    _, code = await a_request(served)
    async with served.program(Role.OPERATOR) as client:
        for _ in range(WRONG_LIMIT):
            answer = await client.post("/api/pairing/approve", json={"code": "WRONG"})
            assert (answer.status_code, answer.json()["code"]) == (409, "pairing")
        answer = await client.post("/api/pairing/approve", json={"code": code})
        assert "locked" in answer.json()["detail"]
    async with served.signed_in() as client:
        await client.post("/pairing/approve", data={"code": code})
        assert "locked" in (await client.get("/pairing")).text
        assert await granted(client) == []


async def test_a_request_is_turned_away_without_its_code(served: Site) -> None:
    name, _ = await a_request(served)
    async with served.program(Role.OPERATOR) as client:
        assert (await client.delete(f"/api/pairing/requests/{name}")).status_code == 200
        assert (await client.delete(f"/api/pairing/requests/{name}")).status_code == 409
        assert (await client.get("/api/pairing")).json() == {"waiting": [], "granted": []}
    assert await audited(served) == [("pairing.denied", ACCOUNT)]


async def test_an_admin_is_made_unmade_and_revoked(served: Site) -> None:
    _, code = await a_request(served)
    async with served.signed_in() as client:
        await client.post("/pairing/approve", data={"code": code})
        await client.post("/pairing/admin", data={"account": ACCOUNT, "admin": "yes"})
        assert await granted(client) == [(ACCOUNT, True)]
        await client.post("/pairing/admin", data={"account": ACCOUNT, "admin": "no"})
        assert await granted(client) == [(ACCOUNT, False)]
        await client.post("/pairing/revoke", data={"account": ACCOUNT})
        assert await granted(client) == []
        gone = await client.post("/api/pairing/revoke", json={"account": ACCOUNT})
        assert (gone.status_code, gone.json()["code"]) == (404, "not_let_in")
        odd = await client.post("/api/pairing/admin", json={"account": "mira", "admin": True})
        assert odd.status_code == 422
    kinds = ["approved", "admin_set", "admin_set", "revoked"]
    assert await audited(served) == [(f"pairing.{kind}", ACCOUNT) for kind in kinds]


async def test_parts_are_sent_again_and_given_up(served: Site) -> None:
    failed, unknown, waiting = [
        await a_part(served, state)
        for state in (PartState.FAILED, PartState.UNKNOWN, PartState.WAITING)
    ]
    async with served.signed_in() as client:
        page = (await client.get("/deliveries")).text
        for part in (failed, unknown, waiting):
            assert f"/deliveries/{part}/" in page
        await client.post(f"/deliveries/{failed}/retry")
        await client.post(f"/deliveries/{unknown}/retry")
        assert "may be read twice" in (await client.get("/deliveries")).text
        twice = await client.post(f"/api/deliveries/{unknown}/retry", json={"twice": True})
        assert twice.status_code == 200
        await client.post(f"/deliveries/{waiting}/give-up")
        found = (await client.get("/api/deliveries")).json()
        assert {one["id"]: one["state"] for one in found} == {
            failed: "waiting",
            unknown: "waiting",
            waiting: "failed",
        }
        filtered = (await client.get("/api/deliveries?state=failed")).json()
        assert [one["id"] for one in filtered] == [waiting]
        assert (await client.post("/api/deliveries/99/give-up")).status_code == 409
    kinds = [("retried", failed), ("retried", unknown), ("given_up", waiting)]
    assert await audited(served) == [(f"delivery.{kind}", f"part:{part}") for kind, part in kinds]


async def test_what_is_not_understood_is_said(served: Site) -> None:
    async with served.program(Role.OPERATOR) as client:
        answer = await client.post("/api/pairing/approve", json={"kode": "X"})
        assert answer.status_code == 422
        assert "code" in answer.json()["detail"]
        assert (await client.get("/api/turns/none")).status_code == 404
        assert (await client.get("/api/sessions/none")).status_code == 404
        assert (await client.get("/api/nothing")).json()["code"] == "http"


async def test_a_sub_agent_needs_a_memory_service_that_runs(served: Site) -> None:
    async with served.program(Role.OPERATOR) as client:
        wish = {"agent": "scout", "parent": "hermes"}
        answer = await client.post("/api/sessions", json=wish)
        assert (answer.status_code, answer.json()["code"]) == (503, "memory_starting")
