"""Full-text search on both dialects: what is found, by whom, and by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.model.ids import PeerId, SessionId, TurnId
from gateway.model.turn import TurnState
from gateway.store import ledger, messages, search, sessions, turns
from gateway.store.search import Scope
from gateway.text.terms import any_of, parse
from tests.contract.store.samples import (
    CONVERSATION,
    NOW,
    SESSION,
    claim,
    event,
    later,
    turn,
)
from tests.contract.store.talk import GROUP, MIRA, TOBIAS, Talk, place

if TYPE_CHECKING:
    from gateway.store.engine import Store, Tx


@pytest.fixture
async def talk(store: Store) -> Talk:
    return await Talk(store).open()


CORPUS = (
    "My daughter's crème brûlée recipe needs vanilla",
    "The e-mail went to don't-reply@example.com",
    "我昨天去了北京大学，很漂亮",
    "コーヒーを飲みます",
    "한국어를 배웁니다",
    "Ёлка стоит в саду",
    "green tea is not black tea",
    "tea that is green",
    'He said "AND OR NOT" (twice)*',
    "v2.0 costs 1e5 at 10:30",
)


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("VANILLA", {0}),
        ("creme brulee", {0}),
        ("Crème", {0}),
        ("van*", {0}),
        ("ani*", set()),
        ("daughter", {0}),
        ("e-mail", {1}),
        ("mail", {1}),
        ("dont", set()),
        ("don't", {1}),
        ("reply@example.com", {1}),
        ("北京", {2}),
        ("京大", {2}),
        ("北京大学", {2}),
        ("北大", set()),
        ("学", {2}),
        ("亮", {2}),
        ("コーヒー", {3}),
        ("飲", {3}),
        ("한국어", {4}),
        ("елка", {5}),
        ("САДУ", {5}),
        ('"green tea"', {6}),
        ("green tea", {6, 7}),
        ('"tea green"', set()),
        ("vanilla OR 北京", {0, 2}),
        ("AND", {8}),
        ("NOT twice", {8}),
        ("1e5", {9}),
        ("v2.0", {9}),
        ("2.0", set()),
        ("", set()),
        ('"', set()),
        ("* ( ) : ^ - +", set()),
        ("zebra", set()),
    ],
)
async def test_what_is_found(talk: Talk, query: str, hits: set[int]) -> None:
    for text in CORPUS:
        await talk.say(text)
    assert set(await talk.find(query)) == {CORPUS[number] for number in hits}


@pytest.mark.parametrize(
    "query",
    [
        "' OR 1=1 --",
        'body : "x" AND NEAR(a b)',
        "tags : p0123456789",
        "'=p0123456789'",
        "\\' | !a <-> b:*",
        "\0",
        "\ud83d",
        "{body tags}: tea",
        "a" * 5000,
        "tea " * 500,
        "🐈‍⬛",
    ],
)
async def test_bad_syntax_is_words(talk: Talk, query: str) -> None:
    await talk.say("nothing of that kind was said here")
    assert await talk.find(query) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text())
async def test_no_query_breaks_the_search(talk: Talk, query: str) -> None:
    await talk.find(query)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=80)
)
async def test_what_was_said_is_found_by_its_own_words(talk: Talk, text: str) -> None:
    await talk.say(text, answer="x")
    if query := parse(text.replace('"', " ").replace("OR", "or").replace("|", " ")):
        found = await talk.store.read(lambda c: search.find(c, query[:8], MIRA, limit=500))
        assert text in [line.text for line in found]


async def test_answers_are_found_with_the_person_they_were_given_to(talk: Talk) -> None:
    await talk.say("When is the fair?", answer="It opens on Friday.")
    assert await talk.find("Friday") == ["It opens on Friday."]
    assert await talk.find("Friday", TOBIAS) == []


async def test_nobody_finds_what_another_said(talk: Talk) -> None:
    """The canary: no mode reaches another person's words, whatever the query."""
    ids = await talk.say("canary-91c2 mine", answer="canary-91c2 yours", peer="tobias")
    for query in ("canary", "canary-91c2", "c*", "mine OR yours", "91c2"):
        assert await talk.find(query) == []
    read = talk.store.read
    assert await read(lambda c: search.read(c, MIRA, SESSION, limit=9)) == []
    assert await read(lambda c: search.read(c, MIRA, SESSION, after=ids[0] - 1, limit=9)) == []
    assert await read(lambda c: search.line(c, MIRA, ids[0])) is None
    assert await read(lambda c: search.browse(c, MIRA, limit=9)) == []
    assert len(await talk.find("canary", TOBIAS)) == 2
    assert len(await talk.find("canary", Scope())) == 2


async def test_two_people_whose_tags_are_equal_are_still_kept_apart(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_tag", lambda kind, *_: kind)
    await talk.say("canary", peer="tobias")
    assert await talk.find("canary") == []


async def test_a_place_holds_what_was_said_there_by_anybody(talk: Talk) -> None:
    await talk.say("picnic on Sunday", where=GROUP, peer="tobias")
    await talk.say("a secret picnic", where="700100200", peer="mira")
    assert await talk.find("picnic", place(GROUP)) == ["picnic on Sunday"]
    assert await talk.find("picnic") == ["a secret picnic"]
    assert await talk.find("picnic", place(GROUP, "-77")) == ["picnic on Sunday"]
    assert await talk.find("picnic", place("-77")) == []


async def test_a_message_that_says_it_more_densely_comes_first_then_the_newest(
    talk: Talk,
) -> None:
    filler = " ".join(f"word{number}" for number in range(60))
    await talk.say("otter otter")
    await talk.say(f"otter {filler}")
    for _ in range(3):
        await talk.say(f"nothing {filler}")
    assert (await talk.find("otter"))[0] == "otter otter"
    await talk.say("the same words")
    ids = await talk.say("the same words")
    found = await talk.store.read(lambda c: search.find(c, parse("same words"), MIRA, limit=1))
    assert [line.id for line in found] == ids


async def test_any_of_the_words(talk: Talk) -> None:
    await talk.say("green tea")
    assert await talk.find("green coffee") == []
    query = any_of(parse("green coffee"))
    found = await talk.store.read(lambda c: search.find(c, query, MIRA, limit=5))
    assert [line.text for line in found] == ["green tea"]


async def test_an_open_turn_and_an_answer_that_never_arrived_are_not_found(talk: Talk) -> None:
    await talk.say("open otter", closed=False)
    await talk.say("closed otter", answer="lost otter")
    await talk.store.write(lambda tx: ledger.skip_undelivered(tx, TurnId("t_0002")))

    # the person's row was held as well: only the state of an answer's row is of interest here
    def give_back(tx: Tx) -> None:
        tx.conn.execute(
            sa.text(
                "UPDATE ledger SET reason = '' WHERE message_id IN (SELECT id FROM message"
                " WHERE role = 'user' AND turn = 't_0002')"
            )
        )

    await talk.store.write(give_back)
    assert await talk.find("otter") == ["closed otter"]


async def test_reading_scrolling_and_browsing(talk: Talk) -> None:
    ids = [(await talk.say(f"line {number}"))[0] for number in range(6)]
    read = talk.store.read

    async def texts(**kwargs: int) -> list[str]:
        found = await read(lambda c: search.read(c, MIRA, SESSION, limit=2, **kwargs))
        return [line.text for line in found]

    assert await texts() == ["line 4", "line 5"]
    assert await texts(before=ids[3]) == ["line 1", "line 2"]
    assert await texts(after=ids[3]) == ["line 4", "line 5"]
    await talk.store.write(lambda tx: sessions.set_title(tx, CONVERSATION, "Garden"))
    [seen] = await read(lambda c: search.browse(c, MIRA, limit=5))
    assert (seen.session, seen.title, seen.lines) == (SESSION, "Garden", 6)
    assert (seen.first.text, seen.last_at) == ("line 0", later(6))


async def test_the_newest_session_is_listed_first(talk: Talk) -> None:
    await talk.say("old")

    def another(tx: Tx) -> None:
        sessions.note(tx, CONVERSATION, event(), participant=None, now=NOW)
        sessions.open_next(tx, CONVERSATION, SessionId("next"), peer=PeerId("mira"), now=NOW)
        claim(tx, turn("t_9", session=SessionId("next")))
        said = messages.Said(0, messages.USER, "", "new", later(9))
        messages.add(tx, said, session=SessionId("next"), turn=TurnId("t_9"))
        turns.advance(tx, TurnId("t_9"), TurnState.RUNNING, now=NOW)
        turns.advance(tx, TurnId("t_9"), TurnState.ANSWERED, now=NOW)

    await talk.store.write(another)
    found = await talk.store.read(lambda c: search.browse(c, MIRA, limit=5))
    assert [one.session for one in found] == ["next", SESSION]


async def test_an_index_that_lacks_something_says_so_and_is_filled(talk: Talk) -> None:
    for number in range(5):
        await talk.say(f"otter {number}", answer="yes")
    await talk.say("still open", closed=False)
    assert await talk.store.read(search.check) == search.Report(10, 0, 0)
    await talk.store.write(search.clear)
    assert await talk.store.read(search.check) == search.Report(0, 10, 0)
    assert await talk.find("otter") == []
    assert await talk.store.write(lambda tx: search.fill(tx, limit=4)) == 4
    assert await talk.store.write(lambda tx: search.fill(tx, limit=400)) == 6
    assert await talk.store.write(lambda tx: search.fill(tx, limit=400)) == 0
    assert (await talk.store.read(search.check)).sound
    assert len(await talk.find("otter")) == 5


async def test_what_is_indexed_and_gone_is_counted(talk: Talk) -> None:
    await talk.say("otter")
    await talk.store.write(lambda tx: tx.conn.execute(sa.text("DELETE FROM ledger")))
    await talk.store.write(lambda tx: tx.conn.execute(sa.text("DELETE FROM message")))
    assert await talk.store.read(search.check) == search.Report(1, 0, 1)
    assert await talk.find("otter") == []
