"""Cards, conclusions and questions: what a peer holds about another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from honcho import NotFoundError

from tests.conformance.api import eventually
from tests.conformance.schema import faults

if TYPE_CHECKING:
    import honcho

    from tests.conformance.api import Api
    from tests.conformance.embedded import Server


def conclude(api: Api, *texts: str, **more: Any) -> Any:
    for peer in ("bot", "ann"):
        api.post("peers", {"id": peer})
    made = [
        {"content": text, "observer_id": "bot", "observed_id": "ann", **more} for text in texts
    ]
    return api.post("conclusions", {"conclusions": made})


# --- cards ---


def test_a_card_belongs_to_a_pair(client: honcho.Honcho) -> None:
    ann, bot = client.peer("ann"), client.peer("bot")
    assert ann.get_card() is None
    assert ann.set_card(["one", "two"]) == ["one", "two"]
    assert bot.get_card(target="ann") is None
    bot.set_card(["other"], target="ann")
    assert (ann.get_card(), bot.get_card(target="ann")) == (["one", "two"], ["other"])
    bot.set_card([], target="ann")
    assert not bot.get_card(target="ann")
    assert ann.get_card() == ["one", "two"]


def test_the_card_of_nobody(api: Api) -> None:
    api.post("peers", {"id": "ann"})
    assert api.get("peers/nobody/card").status_code == 404
    assert api.get("peers/ann/card", target="nobody").json() == {"peer_card": None}
    assert api.put("peers/ann/card", {}).status_code == 422


# --- conclusions ---


def test_conclusions_are_made_listed_and_deleted(client: honcho.Honcho) -> None:
    bot = client.peer("bot")
    client.peer("ann")
    held = bot.conclusions_of("ann")
    made = held.create([{"content": "likes tea"}, {"content": "has a cat"}])
    assert [each.content for each in made] == ["likes tea", "has a cat"]
    assert {each.content for each in held.list()} == {"likes tea", "has a cat"}
    assert list(bot.conclusions.list()) == []
    assert list(client.peer("ann").conclusions_of("bot").list()) == []
    held.delete(made[0].id)
    assert [each.content for each in held.list()] == ["has a cat"]
    with pytest.raises(NotFoundError):
        held.delete(made[0].id)


def test_conclusions_have_the_contracts_shape(api: Api) -> None:
    answer = conclude(api, "likes tea")
    assert answer.status_code == 201
    (made,) = answer.json()
    assert faults("Conclusion", made) == []
    assert (made["observer_id"], made["observed_id"], made["session_id"]) == ("bot", "ann", None)
    assert made["level"] == "explicit"
    filters = {"observed_id": "ann", "observer_id": "bot"}
    found = api.post("conclusions/query", {"query": "tea", "filters": filters}).json()
    assert [each["id"] for each in found] == [made["id"]]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"content": ""}, 422),
        ({"content": "x" * 65_536}, 422),
        ({"observer_id": "nobody"}, 404),
        ({"observed_id": "nobody"}, 404),
        ({"session_id": "nowhere"}, 404),
    ],
)
def test_impossible_conclusions(api: Api, more: dict[str, Any], status: int) -> None:
    assert conclude(api, "fine").status_code == 201
    assert conclude(api, "fine too", **more).status_code == status
    assert api.post("conclusions/list").json()["total"] == 1


def test_a_batch_of_conclusions_is_whole(api: Api) -> None:
    assert conclude(api).status_code == 422
    assert conclude(api, *(f"is number {number}" for number in range(101))).status_code == 422
    assert api.post("conclusions/list").json()["total"] == 0


def test_a_query_names_its_pair(api: Api) -> None:
    conclude(api, "likes tea")
    assert api.post("conclusions/query", {"query": "tea"}).status_code == 422
    one = {"query": "tea", "filters": {"observer_id": "bot"}}
    assert api.post("conclusions/query", one).status_code == 422


def test_conclusions_go_with_their_session(api: Api, server: Server) -> None:
    api.post("sessions", {"id": "s1"})
    conclude(api, "said in s1", session_id="s1")
    conclude(api, "said nowhere")
    api.delete("sessions/s1")

    def left() -> list[str]:
        return [each["content"] for each in api.post("conclusions/list").json()["items"]]

    assert eventually(lambda: left() == ["said nowhere"], server.patience)


# --- questions ---


@pytest.mark.parametrize("more", [{"target": "nobody"}, {"session_id": "nowhere"}])
def test_a_question_about_nobody(api: Api, more: dict[str, str]) -> None:
    api.post("peers", {"id": "bot"})
    answer = api.post("peers/bot/chat", {"query": "who?", **more})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"query": ""},
        {"query": "x" * 10_001},
        {"query": "x", "reasoning_level": "enormous"},
        {"query": "x", "filters": {"peer_id": "ann"}},
        {"query": "x", "filters": {"session_id": 7}},
        {},
    ],
)
def test_impossible_questions(api: Api, body: dict[str, Any]) -> None:
    api.post("peers", {"id": "bot"})
    assert api.post("peers/bot/chat", body).status_code == 422


def test_levels_and_schedules_are_taken(api: Api) -> None:
    api.post("peers", {"id": "bot"})
    dream = {"observer": "bot", "dream_type": "omni"}
    assert api.post("schedule_dream", dream).status_code == 204
    assert api.post("schedule_dream", {"observer": "bot"}).status_code == 422
