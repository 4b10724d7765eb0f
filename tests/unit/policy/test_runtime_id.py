"""The spellings of an account."""

from __future__ import annotations

import pytest

from gateway.model.events import Sender, SenderKind
from gateway.model.ids import ScopeId, UserId
from gateway.policy.runtime_id import RuntimeId, runtime_ids
from tests.unit.policy.samples import ALPHA, MIRA, MIRA_SLACK, SLACK, TELEGRAM, TOBIAS, sender

IN_TEAM = RuntimeId(SLACK, UserId(MIRA_SLACK), ScopeId(ALPHA))
ALONE = RuntimeId(TELEGRAM, UserId(MIRA))


def test_spellings() -> None:
    assert ALONE.forms == (f"telegram:{MIRA}", MIRA)
    assert ALONE.platform_forms == (f"telegram:{MIRA}",)
    assert IN_TEAM.forms == (
        f"slack:{ALPHA}:{MIRA_SLACK}",
        f"{ALPHA}:{MIRA_SLACK}",
        f"slack:{MIRA_SLACK}",
        MIRA_SLACK,
    )
    assert IN_TEAM.platform_forms == (f"slack:{ALPHA}:{MIRA_SLACK}", f"slack:{MIRA_SLACK}")
    assert IN_TEAM.qualified == IN_TEAM.forms[0]


@pytest.mark.parametrize(
    ("who", "ids"),
    [
        (sender(), [MIRA]),
        (sender(alternatives=(TOBIAS, "")), [MIRA, TOBIAS]),
        (sender(None, alternatives=(TOBIAS,)), []),
        (sender(""), []),
        (sender(kind=SenderKind.OPERATOR), []),
    ],
)
def test_the_ids_of_a_sender(who: Sender, ids: list[str]) -> None:
    assert [each.id for each in runtime_ids(who, TELEGRAM)] == ids
