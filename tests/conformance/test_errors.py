"""Errors come with the status and the exception that clients of Honcho know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import honcho
import httpx
import pytest

if TYPE_CHECKING:
    from tests.conformance.api import Api
    from tests.conformance.embedded import Server

STRANGE_KEYS = [b"", b"Bearer", b"Bearer wrong", b"Basic abc", b"Bearer \xe9"]


@pytest.mark.parametrize("given", STRANGE_KEYS)
def test_without_the_key(server: Server, workspace: str, given: bytes) -> None:
    if not server.key:
        pytest.skip("this server asks for no key")
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        headers = [(b"Authorization", given)] if given else []
        answer = client.post("/v3/workspaces", json={"id": workspace}, headers=headers)
        assert answer.status_code == 401
        assert isinstance(answer.json()["detail"], str)
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/openapi.json").json()["info"]["version"]


def test_the_official_client_knows_it(server: Server, workspace: str) -> None:
    if not server.key:
        pytest.skip("this server asks for no key")
    client = honcho.Honcho(
        base_url=server.url, api_key="wrong", workspace_id=workspace, max_retries=0
    )
    with pytest.raises(honcho.AuthenticationError):
        client.peer("ann")
    client._http.close()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("DELETE", "peers/ann", 405),
        ("PATCH", "sessions/s1", 405),
        ("GET", "conclusions/nosuch", 405),
        ("GET", "nothing/here", 404),
    ],
)
def test_what_does_not_exist(
    raw: httpx.Client, api: Api, method: str, path: str, status: int
) -> None:
    assert raw.request(method, f"{api.base}/{path}").status_code == status


def test_nothing_is_cloned(api: Api, server: Server) -> None:
    api.say("s1", ("ann", "x"))
    if server.ours:
        assert api.post("sessions/s1/clone").status_code == 405


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"\xff\xfe"])
def test_bodies_that_are_none(raw: httpx.Client, api: Api, body: bytes) -> None:
    answer = raw.post(
        f"{api.base}/sessions/s1/messages",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code in (400, 422)


def test_bad_arguments_are_unprocessable(client: honcho.Honcho) -> None:
    with pytest.raises(honcho.UnprocessableEntityError):
        client.peer("not.good")
    with pytest.raises(honcho.NotFoundError):
        client.peer("bot").chat("who?", target="nobody")
    with pytest.raises(honcho.BadRequestError):
        client.session(
            "s1",
            peers=[
                (f"o{number}", honcho.api_types.SessionPeerConfig(observe_others=True))
                for number in range(11)
            ],
        )
