"""Whose Hermes Agent's conversations are, and which of their rows somebody said."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.model.events import PlaceKind, SenderKind
from gateway.model.ids import ScopeId
from gateway.policy.hermes import HermesMessage, HermesSession, LeftOut, fresh, speaker, words

TEAM = ScopeId("T0BROOK")
KEY = "agent:main:telegram"


def session(source: str = "telegram", **columns: Any) -> HermesSession:
    return HermesSession(id="20260301_100000_ab12", source=source, **columns)


@pytest.mark.parametrize(
    ("found", "platform", "scope", "user", "kind"),
    [
        (session("cli"), "console", None, None, PlaceKind.DIRECT),
        (session("tui"), "console", None, None, PlaceKind.DIRECT),
        (session(user="42"), "telegram", None, "42", PlaceKind.DIRECT),
        (session(chat="42", chat_type="dm"), "telegram", None, "42", PlaceKind.DIRECT),
        (session(key=f"{KEY}:dm:42"), "telegram", None, "42", PlaceKind.DIRECT),
        (session(user="42", key=f"{KEY}:group:-9:42"), "telegram", None, "42", PlaceKind.GROUP),
        (session("discord", user="77", chat_type="dm"), "discord", None, "77", PlaceKind.DIRECT),
        (session("slack", user="U1", chat_type="dm"), "slack", TEAM, "U1", PlaceKind.DIRECT),
    ],
)
def test_a_session_is_its_accounts(
    found: HermesSession, platform: str, scope: str | None, user: str | None, kind: str
) -> None:
    who = speaker(found, bare_team=TEAM)
    assert not isinstance(who, LeftOut)
    assert (who.platform, who.sender.scope, who.sender.id) == (platform, scope, user)
    assert who.place.kind == kind
    operator = who.sender.kind is SenderKind.OPERATOR
    assert operator is (platform == "console")


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (session("cron"), "source cron"),
        (session("whatsapp", user="42"), "source whatsapp"),
        (session(parent="p", parent_end=None, user="42"), "sub-agent"),
        (session(parent="p", parent_end="agent_close", user="42"), "sub-agent"),
        (session(user="42", key=f"{KEY}:group:-9"), "shared by several people"),
        (session(user="42", key=f"{KEY}:group:-9:77"), "shared by several people"),
        (session(user="42", chat="-9"), "shared by several people"),
        (session(key=f"{KEY}:group:-9:42"), "no account"),
        (session("discord", chat="842", chat_type="dm"), "no account"),
        (session("slack", chat="D1", chat_type="im"), "no account"),
        (session(user="777", key=f"{KEY}:group:-9:777"), "no person"),
        (session(chat="777", chat_type="dm"), "no person"),
    ],
)
def test_what_nobody_can_be_told_to_have_said_is_left_out(
    found: HermesSession, reason: str
) -> None:
    service = {"telegram": frozenset({"777"})}
    assert speaker(found, bare_team=TEAM, service_accounts=service) == LeftOut(reason)


def test_a_slack_account_needs_its_team() -> None:
    found = session("slack", user="U1", chat_type="dm")
    assert speaker(found, bare_team=None) == LeftOut("Slack team unknown")


@pytest.mark.parametrize("end", ["compression", "session_reset", "branched"])
def test_a_session_that_goes_on_is_no_sub_agent(end: str) -> None:
    found = session(user="42", parent="p", parent_end=end)
    assert not isinstance(speaker(found, bare_team=None), LeftOut)
    marked = session(user="42", parent="p", config='{"_branched_from": "p"}')
    assert not isinstance(speaker(marked, bare_team=None), LeftOut)


def message(content: str | None, role: str = "user", id_: int = 1, **flags: bool) -> HermesMessage:
    return HermesMessage(id_, role, content, 0.0, **flags)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (message("I have a dog"), "I have a dog"),
        (message("Lovely!", "assistant"), "Lovely!"),
        (message('\0json:[{"type": "text", "text": "Look"}, {"type": "image_url"}]'), "Look"),
        (message('\1json:[{"type": "text", "text": "Look"}]'), "Look"),
        (message("\0json:{broken"), ""),
        (message("taken back", active=False), ""),
        (message("summed up since", active=False, compacted=True), "summed up since"),
        (message("said to others", observed=True), ""),
        (message("all of it", summary=True), ""),
        (message("unseen", hidden=True), ""),
        (message("{}", "tool"), ""),
        (message("You are Hermes.", "system"), ""),
        (message(None, "assistant"), ""),
        (message(" \n"), ""),
        (message("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns"), ""),
        (message("Review the conversation above and consider saving to memory"), ""),
        (message("[CONTEXT COMPACTION is odd]", "assistant"), "[CONTEXT COMPACTION is odd]"),
    ],
)
def test_only_what_was_said_is_taken(found: HermesMessage, said: str) -> None:
    assert words(found) == said


def test_what_a_summary_carried_over_is_not_taken_twice() -> None:
    before = [message("one"), message("two", "assistant", 2)]
    carried = [message("[CONTEXT SUMMARY] …", id_=3), message("one", id_=4)]
    carried += [message("two", "assistant", 5), message("three", id_=6), message("one", id_=7)]
    assert [each.id for each in fresh(carried, before, continued=True)] == [6, 7]
    assert fresh(carried, before, continued=False) == carried
