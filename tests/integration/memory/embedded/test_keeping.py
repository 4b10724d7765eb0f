"""What was concluded is kept, replaced, kept apart and forgotten alike on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.memory.embedded.thoughtful import (
    Thoughtful,
    documents,
)

if TYPE_CHECKING:
    from typing import Any

    from tests.emulators.openai import ModelStub


ANN, HERMES, IRIS = "ann", "hermes", "iris"


def say(mind: Thoughtful, text: str, session: str = "s1", **more: Any) -> Any:
    return mind.say(session, (ANN, text), **more)


async def test_a_change_takes_the_place_of_what_was(mind: Thoughtful) -> None:
    await say(mind, "I live in Porto.", created_at="2026-01-01T10:00:00Z")
    await mind.thought()
    await say(mind, "I have moved to Graz.", "s2", created_at="2026-02-01T10:00:00Z")
    await mind.thought()
    await say(mind, "I have moved to Oslo.", "s3", created_at="2026-03-01T10:00:00Z")
    await mind.thought()
    assert await mind.concluded() == ["I have moved to Oslo."]
    assert await mind.card() == ["I have moved to Oslo."]
    known = await mind.knows(ANN, ANN)
    assert "[2026-03-01 10:00:00] I have moved to Oslo." in known
    assert "Porto" not in known + str(await mind.ask("Where does this person live now?"))
    found = {"observer_id": ANN, "observed_id": ANN}
    queried = await mind.post("conclusions/query", {"query": "live moved", "filters": found})
    assert [each["content"] for each in queried.json()] == ["I have moved to Oslo."]


async def test_agents_share_nothing_and_equal_knowledge_costs_one_request(
    mind: Thoughtful, model: ModelStub
) -> None:
    await mind.join("s1", ann=False, hermes=True)
    await mind.join("s2", ann=False, iris=True)
    await say(mind, "I live in Porto.")
    await mind.thought()
    assert len(documents(model, "conversation")) == 1
    await say(mind, "I have moved to Graz.", "s2")
    await mind.thought()
    assert await mind.concluded(HERMES, ANN) == ["I live in Porto."]
    assert await mind.concluded(IRIS, ANN) == ["I have moved to Graz."]
    assert await mind.concluded(ANN, ANN) == ["I have moved to Graz."]
    # what iris does not know was not shown for her
    known = [each["known"] for each in documents(model, "conversation")]
    assert sorted(map(len, known)) == [0, 0, 1]


async def test_a_session_takes_along_what_came_from_it_alone(mind: Thoughtful) -> None:
    await say(mind, "I live in Porto.", created_at="2026-01-01T10:00:00Z")
    await say(mind, "My dog is called Rex.", created_at="2026-01-01T10:00:00Z")
    await mind.thought()
    await say(mind, "My dog is called Rex.", "s2", created_at="2026-02-01T10:00:00Z")
    await say(mind, "I have moved to Graz.", "s2", created_at="2026-02-01T10:00:00Z")
    await mind.thought()
    await mind.raw.delete("sessions/s2")
    assert await mind.concluded() == ["I live in Porto.", "My dog is called Rex."]
    assert await mind.card() == ["I live in Porto.", "My dog is called Rex."]
    await mind.raw.delete("sessions/s1")
    assert await mind.concluded() == []
    assert await mind.card() is None
    assert await mind.knows(ANN, ANN) == ""


async def test_a_line_that_was_written_by_hand_is_struck(mind: Thoughtful) -> None:
    await mind.raw.put("peers/ann/card", json={"peer_card": ["I live in Porto.", "Likes tea"]})
    await say(mind, "I have moved to Graz.")
    await mind.thought()
    assert await mind.card() == ["Likes tea", "I have moved to Graz."]
