"""Words as people read them, the bot's mention taken out once and by its mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.parse import parse
from adapters.slack.render import escape
from adapters.slack.words import read_words, readable
from gateway.model.ids import UserId
from tests.unit.slack.samples import VIEW, message, only, payload

BOT = UserId("U0BOT")


@pytest.mark.parametrize(
    ("raw", "text", "mentioned"),
    [
        ("<@U0BOT> hi", "hi", True),
        ("<@U0BOT|gate> hi", "hi", True),
        ("<@U0BOT>", "", True),
        ("hi <@U0BOT>", "hi", True),
        ("hi <@U0BOT>, you", "hi , you", True),
        ("<@U0BOT> ask <@U0BOT>", "ask @U0BOT", True),
        ("<@U0BOT2> hi", "@U0BOT2 hi", False),
        ("&lt;@U0BOT&gt; hi", "<@U0BOT> hi", False),
        ("U0BOT @gate hi", "U0BOT @gate hi", False),
        ("<@U1> hi", "@U1 hi", False),
        ("", "", False),
    ],
)
def test_the_mention_is_taken_out_once(raw: str, text: str, mentioned: bool) -> None:
    words = read_words(raw, BOT)
    assert (words.text, words.mentioned) == (text, mentioned)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<@U1|ann> and <@U2>", "@ann and @Bea"),
        ("<#C1|general> <#C2> <#C3|>", "#general #C2 #C3"),
        ("<!here> <!channel> <!everyone|everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@ops> <!subteam^S1>", "@ops @S1"),
        ("<!date^1700000000^{date}|14 Nov>", "14 Nov"),
        ("<https://e.org/a?b=1&amp;c=2>", "https://e.org/a?b=1&c=2"),
        ("<https://e.org|the site>", "the site (https://e.org)"),
        ("<http://e.org|e.org>", "e.org"),
        ("<mailto:a@e.org|a@e.org> <tel:+1|+1>", "a@e.org +1"),
        ("a &lt; b &amp;&amp; c &gt; d &amp;lt;", "a < b && c > d &lt;"),
        ("3 < 4 <> <", "3 < 4 <> <"),
    ],
)
def test_markup_is_readable(raw: str, text: str) -> None:
    assert readable(raw, name_of=lambda user: {"U2": "Bea"}.get(user, user)) == text


@given(st.text(alphabet="<>&@!#|;lgtamp Ux1"))
def test_what_we_escape_is_read_back_as_it_was(text: str) -> None:
    assert readable(escape(text)) == text


@pytest.mark.parametrize(
    ("raw", "command", "args"),
    [
        ("<@U0BOT> /new", "new", ""),
        ("<@U0BOT> /NEW extra words", "new", "extra words"),
        ("/new", "new", ""),
        (" /new", "new", ""),
        ("<@U0BOT> //new", None, ""),
        ("<@U0BOT> text /new", None, ""),
        ("<@U0BOT> / new", None, ""),
    ],
)
def test_commands_behind_the_mention(raw: str, command: str | None, args: str) -> None:
    """H-45."""
    event = only(parse(payload(message(raw, channel="C1")), VIEW))
    found = event.command
    assert (found and found.name, found.args if found else "") == (command, args)
    assert not event.foreign_command


def test_a_shared_message_is_somebody_elses_words() -> None:
    shared = {"is_share": True, "author_name": "Bea", "text": "a &amp; b <@U1>", "fallback": "x"}
    unfurled = {"from_url": "https://e.org", "text": "page"}
    event = only(parse(payload(message("look", attachments=[unfurled, shared])), VIEW))
    assert event.text == "look"
    assert event.forward is not None
    assert (event.forward.author, event.forward.text) == ("Bea", "a & b @U1")
