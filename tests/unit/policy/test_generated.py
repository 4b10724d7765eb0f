"""Names of accounts that no rule names (H-09, H-13)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.ids import PlatformName, ScopeId, UserId
from gateway.policy.generated import generated_name, prefixed_name
from gateway.policy.runtime_id import RuntimeId
from tests.unit.policy.samples import ALPHA, BETA, MIRA, MIRA_DISCORD, MIRA_SLACK


def account(platform: str, user: str, scope: str | None = None) -> RuntimeId:
    return RuntimeId(
        PlatformName(platform), UserId(user), None if scope is None else ScopeId(scope)
    )


@pytest.mark.parametrize(
    ("who", "name"),
    [
        (account("telegram", MIRA), MIRA),
        (account("telegram", "9" * 16), "9" * 16),
        (account("telegram", "9" * 17), "telegram_" + "9" * 17),
        (account("telegram", "-1001"), "telegram_-1001"),
        (account("telegram", "７００"), "telegram_%EF%BC%97%EF%BC%90%EF%BC%90"),
        (account("discord", MIRA_DISCORD), MIRA_DISCORD),
        (account("discord", "1" * 17), "1" * 17),
        (account("discord", MIRA), f"discord_{MIRA}"),
        (account("slack", MIRA_SLACK, ALPHA), MIRA_SLACK),
        (account("slack", "W0GRID0001", ALPHA), "W0GRID0001"),
        (account("slack", MIRA_SLACK, BETA), f"slack_{BETA}_{MIRA_SLACK}"),
        (account("slack", MIRA_SLACK), f"slack_{MIRA_SLACK}"),
        (account("slack", MIRA, ALPHA), f"slack_{ALPHA}_{MIRA}"),
        (account("slack", "a_b", ALPHA), f"slack_{ALPHA}_a%5Fb"),
        (account("matrix", MIRA), f"matrix_{MIRA}"),
    ],
)
def test_generated_names(who: RuntimeId, name: str) -> None:
    assert generated_name(who, ScopeId(ALPHA)) == name


def test_without_a_bare_team_every_slack_name_carries_its_team() -> None:
    assert generated_name(account("slack", MIRA_SLACK, ALPHA), None) == (
        f"slack_{ALPHA}_{MIRA_SLACK}"
    )


TRICKY = st.text("0123456789ABUTW_-%:ab", min_size=1, max_size=20) | st.sampled_from(
    [MIRA, MIRA_DISCORD, MIRA_SLACK, f"{ALPHA}_{MIRA_SLACK}", "telegram_1", "1"]
)
ACCOUNTS = st.builds(
    account,
    st.sampled_from(["telegram", "discord", "slack", "console", "tele_gram"]),
    TRICKY,
    st.none() | st.sampled_from([ALPHA, BETA]) | TRICKY,
)
#: telegram and discord ids have no scope
REAL = ACCOUNTS.filter(lambda each: each.scope is None or each.platform == "slack")
PREFIXES = st.sampled_from(["", "tg_", "u1", "{platform}", "{platform}_", "x{platform}1"])


@given(REAL, REAL, PREFIXES)
def test_two_accounts_never_have_one_name(
    first: RuntimeId, second: RuntimeId, prefix: str
) -> None:
    names = {prefixed_name(prefix, each, ScopeId(ALPHA)) for each in (first, second)}
    assert len(names) == len({first, second})


@pytest.mark.parametrize(
    ("prefix", "name"),
    [
        ("", MIRA),
        ("tg_", f"tg_{MIRA}"),
        ("{platform}_", f"telegram_{MIRA}"),
        ("{other}", f"{{other}}{MIRA}"),
    ],
)
def test_prefix(prefix: str, name: str) -> None:
    assert prefixed_name(prefix, account("telegram", MIRA), None) == name
