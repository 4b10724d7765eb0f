"""What is derived: there in the end, from what was said alone, for those who heard it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from honcho.api_types import SessionPeerConfig

from tests.conformance.api import eventually

if TYPE_CHECKING:
    import honcho

    from tests.conformance.embedded import Server

ME = SessionPeerConfig(observe_me=True, observe_others=False)
WATCHING = SessionPeerConfig(observe_me=False, observe_others=True)


@pytest.fixture
def heard(client: honcho.Honcho, server: Server) -> honcho.Honcho:
    """Ann told a bot of her canary in one session; in another one nobody listened."""
    if not server.derives:
        pytest.skip("derivation is not waited for; see --eventually")
    ann = client.peer("ann")
    client.peer("bot")
    client.peer("deaf")
    told = client.session("s1", peers=[("ann", ME), ("bot", WATCHING), ("deaf", ME)])
    told.add_messages(ann.message("I bought a canary called Zebedee."))
    alone = client.session("s2", peers=[("ann", ME)])
    alone.add_messages(ann.message("My parrot is called Xanthippe."))
    assert eventually(
        lambda: "Zebedee" in client.peer("bot").representation(target="ann"), server.derives
    )
    assert eventually(lambda: "Xanthippe" in ann.representation(), server.derives)
    return client


def test_a_perspective_holds_what_was_heard(heard: honcho.Honcho) -> None:
    seen = heard.peer("bot").representation(target="ann")
    assert "Zebedee" in seen
    assert "Xanthippe" not in seen
    own = heard.peer("ann").representation()
    assert "Zebedee" in own


def test_who_does_not_observe_knows_nothing(heard: honcho.Honcho) -> None:
    assert heard.peer("deaf").representation(target="ann").strip() == ""


def test_context_and_peer_context_say_the_same(heard: honcho.Honcho) -> None:
    session = heard.session("s1")
    context = session.context(tokens=2000, peer_target="ann", peer_perspective="bot")
    assert context.peer_representation is not None
    assert "Zebedee" in context.peer_representation
    assert "Xanthippe" not in context.peer_representation
    other = heard.peer("bot").context(target="ann")
    assert other.representation is not None
    assert "Zebedee" in other.representation


def test_confined_to_a_session(heard: honcho.Honcho) -> None:
    ann = heard.peer("ann")
    assert "Zebedee" not in ann.representation("s2")
    assert "Xanthippe" in ann.representation("s2")
    here = heard.session("s2").context(tokens=2000, peer_target="ann", limit_to_session=True)
    assert "Zebedee" not in (here.peer_representation or "")
    both = heard.session("s2").context(tokens=2000, peer_target="ann", sessions=["s2", "s1"])
    assert "Zebedee" in (both.peer_representation or "")


def test_questions_are_answered_from_what_was_heard(heard: honcho.Honcho) -> None:
    answer = heard.peer("bot").chat("What is ann's canary called?", target="ann")
    assert answer is not None
    assert "Zebedee" in answer
    streamed = heard.peer("bot").chat_stream("What is ann's canary called?", target="ann")
    assert "Zebedee" in "".join(streamed)
    assert streamed.is_complete
    unheard = heard.peer("bot").chat("What is ann's parrot called?", target="ann")
    assert "Xanthippe" not in (unheard or "")
