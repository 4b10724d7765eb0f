"""No secret in any text (H-42). All tokens are invented, and put together here."""

from __future__ import annotations

import time
from itertools import zip_longest

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.policy.redact import MASK, redact

BODY = "AAinventedTokenForTests_0123456789abcd"
TELEGRAM = f"111222333:{BODY}"
SLACK_BOT = "-".join(("xoxb", "1234567890", "0987654321", "inventedInvented"))
SLACK_APP = "-".join(("xapp", "1", "A0INVENTED", "123", "abcdef0123"))
SLACK_ROTATED = "xoxe." + "-".join(("xoxp", "1", "Mi0yLTEyMzQ1"))
OPENAI = "sk-" + "proj-invented0123456789abcdef"
HONCHO = "hch-" + "v3-invented0123456789abcdef"
GOOGLE = "AIza" + "SyInvented0123456789_abcdefghijklm"
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJtaXJhIn0", "c2lnbmF0dXJlLWludmVudGVk"))
DISCORD = ".".join(("MTExMjIyMzMzNDQ0NTU1NjY2", "GaBcDe", "inventedInventedInvented0123"))

SHAPES = [
    (TELEGRAM, "[telegram-token]"),
    (SLACK_BOT, "[slack-token]"),
    (SLACK_APP, "[slack-token]"),
    (SLACK_ROTATED, "[slack-token]"),
    (OPENAI, "[api-key]"),
    (HONCHO, "[api-key]"),
    (GOOGLE, "[api-key]"),
    (JWT, "[jwt]"),
    (DISCORD, "[discord-token]"),
]


@pytest.mark.parametrize(("token", "mask"), SHAPES)
@pytest.mark.parametrize(
    "around", ["{}", "token {} is bad", "('{}',)", '{{"key": "{}"}}', "\n{}\n"]
)
def test_a_token_nobody_registered_is_known_by_its_shape(
    token: str, mask: str, around: str
) -> None:
    assert redact(around.format(token), ()) == around.format(mask)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            f"GET https://api.telegram.org/bot{TELEGRAM}/getMe failed",
            "GET https://api.telegram.org/bot[telegram-token]/getMe failed",
        ),
        (
            f"https://h/file/bot{TELEGRAM.replace(':', '%3A')}/a.jpg",
            "https://h/file/bot[telegram-token]/a.jpg",
        ),
        ("Authorization: Bearer abc123def456", f"Authorization: Bearer {MASK}"),
        ("{'authorization': 'Bot abc.def'}", f"{{'authorization': 'Bot {MASK}'}}"),
        ("authorization=Basic YTpi", f"authorization=Basic {MASK}"),
        ("sent bearer abcdefgh1 to it", f"sent bearer {MASK} to it"),
        ("postgresql://mira:geheim@db/x", f"postgresql://mira:{MASK}@db/x"),
        ("/sign-in?token=abc&next=/", f"/sign-in?token={MASK}&next=/"),
        ("OPENAI_API_KEY=abc", f"OPENAI_API_KEY={MASK}"),
        ("password=a'b", f"password={MASK}'b"),
    ],
)
def test_secrets_in_addresses_and_headers(text: str, found: str) -> None:
    assert redact(text, ()) == found


@pytest.mark.parametrize(
    "text",
    [
        "turn t_01hzy3k8q answered in 12:30:45",
        "https://example.org:8443/path?page=2",
        "peer telegram_7654321, session telegram-group--1005550001112-55-0123456789abcdef01234567",
        "the bearer certificates arrived",
        "task-management-system-2024 and sk-learn",
        "gateway.policy.redact",
        "the token: none given",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text, ()) == text


def test_registered_secrets_go_whole_and_in_pieces() -> None:
    several = "123:short-but-secret , 456:another-secret"
    text = "123:short-but-secret | another-secret | 456%3Aanother-secret | geheim | the end, again"
    found = redact(text, [several, "geheim", ""])
    assert found == f"{MASK} | {MASK} | {MASK} | {MASK} | the end, again"


def test_the_longest_secret_is_masked_first() -> None:
    assert redact("abcdefgh abcd", ["abcd", "abcdefgh"]) == f"{MASK} {MASK}"


def test_nothing_of_a_secret_is_kept() -> None:
    found = redact(f"{TELEGRAM} {SLACK_BOT}", [TELEGRAM, SLACK_BOT])
    assert not {each for each in (BODY, "abcd", "Invented", "111222333") if each in found}


SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=4, max_size=40)


@given(st.lists(SECRETS, min_size=1, max_size=4), st.lists(st.text(max_size=20), max_size=4))
def test_no_registered_secret_survives(secrets: list[str], fill: list[str]) -> None:
    assume(not any(secret in MASK or MASK in secret for secret in secrets))
    text = "".join(a + b for a, b in zip_longest(fill, secrets, fillvalue=""))
    found = redact(text, secrets)
    assert not any(secret in found.replace(MASK, "\0") for secret in secrets)


PIECES = [
    *(token for token, _ in SHAPES),
    *("token=", "Bearer ", "authorization: ", "://a:b@", " ", "x", "-", "/"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_twice_changes_nothing_more(pieces: list[str]) -> None:
    once = redact("".join(pieces), ())
    assert redact(once, ()) == once


@pytest.mark.parametrize(
    "piece", ["a-", "eyJ-", "sk-", "1:", "bearer ", "xoxb", "token=", "://", "a."]
)
def test_long_hostile_text_is_quick(piece: str) -> None:
    started = time.perf_counter()
    redact(piece * 25_000, ())
    assert time.perf_counter() - started < 5
