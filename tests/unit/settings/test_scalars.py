"""Scalars mean what was typed, or are refused: never a guess, never a rounded number."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.settings import accounts, scalars
from gateway.settings.nodes import Scalar, Source, Style
from gateway.settings.scalars import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN, QUOTED, VARIABLE = Style.PLAIN, Style.QUOTED, Style.VARIABLE
TELEGRAM = ("telegram", "discord", "slack")


def scalar(text: str, style: Style = PLAIN) -> Scalar:
    return Scalar(text, style, Source(None))


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, True) for word in ("true", "TRUE", "yes", "Yes", "on", "1", " true ")),
        *((word, False) for word in ("false", "False", "no", "off", "OFF", "0", "False ")),
    ],
)
def test_switch_words(text: str, value: bool, style: Style) -> None:
    assert scalars.boolean(scalar(text, style)) is value


@pytest.mark.parametrize("text", ["treu", "", "null", "2", "-1", "0.0", "y", "n", "o\ufb00", "一"])
def test_not_a_switch(text: str) -> None:
    with pytest.raises(RefusedError, match="switch"):
        scalars.boolean(scalar(text))


@pytest.mark.parametrize(
    ("text", "style", "value"),
    [("0", PLAIN, 0), ("1200", PLAIN, 1200), ("-5", PLAIN, -5), (" 30 ", VARIABLE, 30)],
)
def test_whole_numbers(text: str, style: Style, value: int) -> None:
    assert scalars.integer(scalar(text, style)) == value


@pytest.mark.parametrize(
    ("text", "style"),
    [
        *((text, PLAIN) for text in ("1e3", "1.0", "0700", "700_100", "+7", "0x10", "12:30:45")),
        *((text, PLAIN) for text in ("true", "", "null", "７", "9" * 30, "- 5", "1,000")),
        ("1200", QUOTED),
        ("1e3", VARIABLE),
    ],
)
def test_not_a_whole_number(text: str, style: Style) -> None:
    with pytest.raises(RefusedError, match="whole number"):
        scalars.integer(scalar(text, style))


@pytest.mark.parametrize(("text", "value"), [("3", 3.0), ("2.5", 2.5), ("0.125", 0.125)])
def test_numbers(text: str, value: float) -> None:
    assert scalars.number(scalar(text)) == value


@pytest.mark.parametrize("text", ["2.", ".5", "1e3", "nan", "inf", ".inf", "1_0.5", "30s", ""])
def test_not_a_number(text: str) -> None:
    with pytest.raises(RefusedError):
        scalars.number(scalar(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90s", timedelta(seconds=90)),
        ("15m", timedelta(minutes=15)),
        ("24h", timedelta(hours=24)),
        ("30d", timedelta(days=30)),
        ("2w", timedelta(days=14)),
        ("1y", timedelta(days=365)),
    ],
)
def test_time_spans(text: str, value: timedelta) -> None:
    assert scalars.duration(scalar(text)) == value


@pytest.mark.parametrize("text", ["24", "0h", "-1d", "1.5h", "1 d", "1month", "forever", ""])
def test_not_a_time_span(text: str) -> None:
    with pytest.raises(RefusedError, match="time span"):
        scalars.duration(scalar(text))


@pytest.mark.parametrize(
    ("text", "style", "value"),
    [
        ("mira", PLAIN, "mira"),
        ("  mira", QUOTED, "mira"),
        ("mira\u00a0", QUOTED, "mira"),
        ("Zoe\u0308", QUOTED, "Zo\u00eb"),
        ("7654321", PLAIN, "7654321"),
        ("true", QUOTED, "true"),
        ("1e3", QUOTED, "1e3"),
        ("two words", PLAIN, "two words"),
        ("127.0.0.1", PLAIN, "127.0.0.1"),
        ("", QUOTED, ""),
    ],
)
def test_names(text: str, style: Style, value: str) -> None:
    assert scalars.name(scalar(text, style)) == value


@pytest.mark.parametrize(
    ("text", "style"),
    [
        *((text, PLAIN) for text in ("true", "No", "null", "~", "", "1.5", "8.1e17", "0700")),
        *((text, PLAIN) for text in ("700_100", "12:30:45", "0x1F", ".inf", "NaN")),
        *((text, QUOTED) for text in ("mi\u200bra", "mi\x00ra", "a\nb", "\ud800", "a\u202eb")),
    ],
)
def test_not_a_name(text: str, style: Style) -> None:
    with pytest.raises(RefusedError):
        scalars.name(scalar(text, style))


def test_nearest_zone_is_named() -> None:
    assert scalars.zone(scalar("Asia/Kolkata")) == "Asia/Kolkata"
    with pytest.raises(RefusedError) as caught:
        scalars.zone(scalar("Europe/Berln"))
    assert caught.value.remedy == "did you mean Europe/Berlin?"


@pytest.mark.parametrize(
    "text", ["", "/etc/passwd", "../UTC", "Europe", "Mars/Olympus", "utc\x00"]
)
def test_not_a_zone(text: str) -> None:
    with pytest.raises(RefusedError):
        scalars.zone(scalar(text, QUOTED))


@pytest.mark.parametrize(
    "text",
    [
        "https://api.telegram.org/bot",
        "http://127.0.0.1:8000",
        "http://[::1]:8000/v1",
        "wss://gateway.discord.gg/",
        "postgresql://u:p@h/db",
        "postgresql:///db",
    ],
)
def test_addresses(text: str) -> None:
    assert scalars.address(scalar(text, QUOTED)) == text


@pytest.mark.parametrize(
    "text", ["localhost:8000", "api.honcho.dev", "http://", "http://[::1", "http://h:x", "ftp://h"]
)
def test_not_an_address(text: str) -> None:
    with pytest.raises(RefusedError, match="address"):
        scalars.address(scalar(text, QUOTED))


@pytest.mark.parametrize("style", [PLAIN, QUOTED, VARIABLE])
@pytest.mark.parametrize(
    ("platform", "text"),
    [
        ("telegram", "700100200"),
        ("telegram", "-1005550001112"),
        ("telegram", "-4455667"),
        ("discord", "812345678901234567"),
        ("slack", "U0MIRA"),
        ("slack", "T0TEAM:W0MIRA"),
    ],
)
def test_ids_stay_as_typed(platform: str, text: str, style: Style) -> None:
    """H-01, H-02, H-03: quoted or not, signed or long, an id is its own text."""
    assert accounts.account(scalar(text, style), platform) == text
    named = f"{platform}:{text}"
    assert accounts.account(scalar(named, style), platform) == text
    assert accounts.bare_or_qualified(scalar(named, style), TELEGRAM) == named


@pytest.mark.parametrize(
    ("text", "style"),
    [
        *((text, PLAIN) for text in ("8.12345678901234567e17", "812345678901234567.0", "1e3")),
        *((text, PLAIN) for text in ("true", "null", "", "0700100200", "700_100_200", "12:30:45")),
        *((text, QUOTED) for text in ("８", "\uff17\uff10", "7_0", "0700", "mira", "@mira", "*")),
        *((text, QUOTED) for text in ("", " ", "8.1e17", "-", "7 8", "7\u200b")),
    ],
)
def test_not_an_id(text: str, style: Style) -> None:
    with pytest.raises(RefusedError):
        accounts.account(scalar(text, style), "telegram")
    with pytest.raises(RefusedError):
        accounts.account(scalar(text, style), "discord")


def test_star_names_the_switch() -> None:
    with pytest.raises(RefusedError) as caught:
        accounts.account(scalar("*", QUOTED), "slack")
    assert "access.allow_all.slack: true" in caught.value.problem


def test_admins_are_qualified() -> None:
    assert accounts.qualified(scalar("slack:T0A:U0B"), TELEGRAM) == "slack:T0A:U0B"
    with pytest.raises(RefusedError, match="platform:id") as caught:
        accounts.qualified(scalar("700100200"), TELEGRAM)
    assert "telegram:700100200" in caught.value.problem
    with pytest.raises(RefusedError):
        accounts.qualified(scalar("telegarm:7"), TELEGRAM)


_JUDGES: list[Callable[[Scalar], Any]] = [
    scalars.boolean,
    scalars.integer,
    scalars.number,
    scalars.duration,
    scalars.name,
    scalars.zone,
    scalars.address,
    lambda one: scalars.choice(one, ("a", "b"), {}),
    lambda one: accounts.account(one, "telegram"),
    lambda one: accounts.account(one, "slack"),
    lambda one: accounts.qualified(one, TELEGRAM),
    lambda one: accounts.bare_or_qualified(one, TELEGRAM),
]


@pytest.mark.parametrize("judge", _JUDGES)
@given(
    text=st.one_of(
        st.text(max_size=40),
        st.text(alphabet="0123456789+-_.:eExob", max_size=20),
        st.text(alphabet=st.characters(exclude_categories=()), max_size=10),
    ),
    style=st.sampled_from(Style),
)
def test_any_text_is_a_value_or_refused(
    judge: Callable[[Scalar], Any], text: str, style: Style
) -> None:
    with contextlib.suppress(RefusedError):
        assert judge(scalar(text, style)) is not None


@given(number=st.integers(min_value=1, max_value=10**19), style=st.sampled_from(Style))
def test_no_digit_of_an_id_is_lost(number: int, style: Style) -> None:
    assert accounts.account(scalar(str(number), style), "discord") == str(number)


@given(text=st.text(alphabet="0123456789._eE+-", min_size=1, max_size=24))
def test_an_accepted_id_is_the_text_itself(text: str) -> None:
    """H-02: whatever YAML would make of it, an id is never another one."""
    try:
        found = accounts.account(scalar(text), "telegram")
    except RefusedError:
        return
    assert found == text
    assert str(int(found)) == text
