"""Which ids are taken, and that they are taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import httpx

    from tests.conformance.api import Api
    from tests.conformance.embedded import Server

BAD = ["a.b", "a:b", "a/b", "a b", "a@b", "é", "人", "", "a\n", "a\u0000b"]
GOOD = ["a", "A-b_9", "-", "_", "7654321", "x" * 100]


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("kind", ["peers", "sessions"])
def test_good_ids(api: Api, kind: str, name: str) -> None:
    assert api.post(kind, {"id": name}).status_code == 201
    assert api.post(kind, {"id": name}).status_code == 200
    assert [each["id"] for each in api.post(f"{kind}/list").json()["items"]] == [name]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", ["peers", "sessions"])
def test_bad_ids(api: Api, kind: str, name: str) -> None:
    answer = api.post(kind, {"id": name})
    assert answer.status_code == 422
    (fault,) = answer.json()["detail"]
    assert fault["loc"] == ["body", "id"]
    assert fault["type"] == ("string_too_short" if name == "" else "string_pattern_mismatch")
    assert api.post(f"{kind}/list").json()["total"] == 0


def test_too_long_ids(api: Api) -> None:
    for kind in ("peers", "sessions"):
        (fault,) = api.post(kind, {"id": "x" * 513}).json()["detail"]
        assert (fault["type"], fault["loc"]) == ("string_too_long", ["body", "id"])


def test_bad_workspace_ids(raw: httpx.Client) -> None:
    assert raw.post("/v3/workspaces", json={"id": "a.b"}).status_code == 422


def test_a_bad_author_stores_nothing(api: Api) -> None:
    assert api.say("s1", ("ann", "one"), ("b.d", "two")).status_code == 422
    assert api.post("sessions/s1/messages/list").json()["total"] == 0


def test_a_bad_id_in_a_path(api: Api, server: Server) -> None:
    answer = api.say("bad.sess", ("ann", "one"))
    assert answer.status_code in ((422,) if server.ours else (422, 500))


def test_ids_differ_by_case(api: Api) -> None:
    for name in ("ann", "Ann"):
        assert api.post("peers", {"id": name}).status_code == 201
