"""Messages: limits, whole batches, order, what is stripped, what is not filterable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import honcho

    from tests.conformance.api import Api
    from tests.conformance.embedded import Server

LIMIT = 25_000


def contents(api: Api, **query: object) -> list[str]:
    listed = api.post("sessions/s1/messages/list", {}, **query).json()
    return [each["content"] for each in listed["items"]]


def fault(api: Api, messages: list[dict[str, Any]]) -> tuple[str, list[Any]]:
    answer = api.post("sessions/s1/messages", {"messages": messages})
    assert answer.status_code == 422
    found = answer.json()["detail"][0]
    return found["type"], found["loc"]


def of(text: str, **more: Any) -> dict[str, Any]:
    return {"peer_id": "ann", "content": text, **more}


# --- limits ---


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], ("too_short", ["body", "messages"])),
        ([of("x")] * 101, ("too_long", ["body", "messages"])),
        (
            [of("x"), of("x" * (LIMIT + 1))],
            ("string_too_long", ["body", "messages", 1, "content"]),
        ),
        ([{"content": "x"}], ("missing", ["body", "messages", 0, "peer_id"])),
    ],
    ids=["none", "101", "too long", "no author"],
)
def test_refused_batches(
    api: Api, messages: list[dict[str, Any]], expected: tuple[str, list[Any]]
) -> None:
    assert fault(api, messages) == expected
    assert contents(api) == []


@pytest.mark.parametrize("text", ["", " \n ", "x" * LIMIT, "🙂" * LIMIT, "日本語", "a\u200bb"])
def test_taken_texts(api: Api, text: str) -> None:
    (stored,) = api.say("s1", ("ann", text)).json()
    assert stored["content"] == text
    assert contents(api) == [text]


def test_a_full_batch_of_the_longest(api: Api) -> None:
    texts = [f"{number:03}" + "x" * (LIMIT - 3) for number in range(100)]
    assert api.say("s1", *(("ann", text) for text in texts)).status_code == 201
    assert contents(api, size=100) == texts


def test_nul_is_stripped(api: Api) -> None:
    message = of("a\0b", metadata={"k\0": "v\0", "list": ["\0x"]})
    (stored,) = api.post("sessions/s1/messages", {"messages": [message]}).json()
    assert (stored["content"], stored["metadata"]) == ("ab", {"k": "v", "list": ["x"]})


@pytest.mark.parametrize("mark", ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>"])
def test_tokenizer_marks(api: Api, server: Server, mark: str) -> None:
    status = api.say("s1", ("ann", f"see {mark} here")).status_code
    assert status == 201 if server.ours else status in (201, 422, 500)


def test_broken_up_marks_are_taken_everywhere(api: Api) -> None:
    assert api.say("s1", ("ann", "see <|\u200bendoftext|> here")).status_code == 201


@pytest.mark.parametrize(
    ("metadata", "status"),
    [
        ({str(number): number for number in range(100)}, 201),
        ({str(number): number for number in range(101)}, 422),
        ({"a": {"b": {"c": {"d": {}}}}}, 201),
        ({"a": {"b": {"c": {"d": {"e": {}}}}}}, 422),
        ({"long": "x" * 1_000_000}, 201),
        ({"n": 1, "f": 1.5, "b": True, "z": None, "l": [1, {"x": "y"}], "u": "ü"}, 201),
    ],
    ids=["100 keys", "101 keys", "depth 5", "depth 6", "1 MB", "all kinds"],
)
def test_metadata(api: Api, metadata: dict[str, Any], status: int) -> None:
    answer = api.post("sessions/s1/messages", {"messages": [of("x", metadata=metadata)]})
    assert answer.status_code == status
    if status == 201:
        assert answer.json()[0]["metadata"] == metadata
    else:
        assert contents(api) == []


def test_ids_of_the_client_are_ignored(api: Api) -> None:
    message = of("x", id="mine", public_id="mine")
    (stored,) = api.post("sessions/s1/messages", {"messages": [message]}).json()
    assert stored["id"] != "mine"
    assert len(stored["id"]) == 21


# --- order and time ---


def test_the_order_is_that_of_the_batches(api: Api) -> None:
    written = [[f"{batch}-{number}" for number in range(7)] for batch in range(3)]
    for batch in written:
        stored = api.say("s1", *(("ann", text) for text in batch)).json()
        assert [each["content"] for each in stored] == batch
    flat = [text for batch in written for text in batch]
    assert contents(api) == flat
    assert contents(api, reverse="true") == flat[::-1]
    context = api.get("sessions/s1/context").json()
    assert [each["content"] for each in context["messages"]] == flat


def test_time_does_not_reorder(api: Api) -> None:
    late, early = "2026-03-01T10:00:00+02:00", "2020-01-01T00:00:00Z"
    messages = [of("late", created_at=late), of("early", created_at=early), of("now")]
    stored = api.post("sessions/s1/messages", {"messages": messages}).json()
    assert contents(api) == ["late", "early", "now"]
    times = [datetime.fromisoformat(each["created_at"]) for each in stored]
    assert times[:2] == [datetime(2026, 3, 1, 8, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)]
    assert abs(times[2] - datetime.now(UTC)) < timedelta(minutes=5)


def test_the_official_client(client: honcho.Honcho) -> None:
    ann, session = client.peer("ann"), client.session("s1")
    there = timezone(timedelta(hours=5, minutes=30))
    said = [
        ann.message(f"line {number}", metadata={"gw_id": f"k{number}"}, created_at=moment)
        for number, moment in enumerate([datetime(2026, 1, 2, tzinfo=there)] * 3)
    ]
    stored = session.add_messages(said)
    assert [each.content for each in stored] == ["line 0", "line 1", "line 2"]
    assert {each.created_at for each in stored} == {datetime(2026, 1, 2, tzinfo=there)}
    assert [each.content for each in session.messages(size=2)] == ["line 0", "line 1", "line 2"]
    wanted = {"metadata": {"gw_id": {"in": ["k2", "k0", "other"]}}}
    assert [each.metadata["gw_id"] for each in session.messages(filters=wanted)] == ["k0", "k2"]


def test_a_time_without_a_zone(api: Api, server: Server) -> None:
    message = of("x", created_at="2026-03-01T10:00:00")
    (stored,) = api.post("sessions/s1/messages", {"messages": [message]}).json()
    told = datetime.fromisoformat(stored["created_at"])
    assert told.replace(tzinfo=None) == datetime(2026, 3, 1, 10)  # noqa: DTZ001  (it has none)
    assert told.tzinfo is UTC if server.ours else told.tzinfo in (None, UTC)


# --- pages ---


def test_pages(api: Api) -> None:
    api.say("s1", *(("ann", str(number)) for number in range(7)))
    page = api.post("sessions/s1/messages/list", {}, page=2, size=3).json()
    assert [each["content"] for each in page["items"]] == ["3", "4", "5"]
    assert (page["total"], page["page"], page["size"], page["pages"]) == (7, 2, 3, 3)
    assert api.post("sessions/s1/messages/list", {}, page=9).json()["items"] == []


@pytest.mark.parametrize("query", [{"size": 101}, {"size": 0}, {"page": 0}, {"page": "x"}])
def test_impossible_pages(api: Api, query: dict[str, object]) -> None:
    assert api.post("sessions/s1/messages/list", {}, **query).status_code == 422


# --- afterwards ---


def test_metadata_can_be_replaced(api: Api) -> None:
    (stored,) = api.post("sessions/s1/messages", {"messages": [of("x", metadata={"a": 1})]}).json()
    path = f"sessions/s1/messages/{stored['id']}"
    assert api.put(path, {"metadata": {"b": 2}}).json()["metadata"] == {"b": 2}
    assert api.put(path, {}).json()["metadata"] == {"b": 2}
    assert api.get(path).json() == {**stored, "metadata": {"b": 2}}


def test_a_message_cannot_be_deleted(api: Api) -> None:
    (stored,) = api.say("s1", ("ann", "x")).json()
    assert api.delete(f"sessions/s1/messages/{stored['id']}").status_code == 405


def test_an_unknown_message(api: Api) -> None:
    api.say("s1", ("ann", "x"))
    assert api.get("sessions/s1/messages/nosuchmessage").status_code == 404


def test_a_session_that_never_was(api: Api) -> None:
    assert api.post("sessions/s1/messages/list", {}).json()["total"] == 0
