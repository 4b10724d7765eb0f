"""Who observes whom: preset, override, and what company does to it."""

from __future__ import annotations

import pytest

from gateway.model.memory import Observation
from gateway.policy.observation import of_person, rules

NONE = Observation()


@pytest.mark.parametrize(
    ("mode", "user", "agent", "expected"),
    [
        ("directional", NONE, NONE, ((True, True), (True, True))),
        ("unified", NONE, NONE, ((True, False), (False, True))),
        ("unified", Observation(None, True), NONE, ((True, True), (False, True))),
        ("unified", NONE, Observation(True, None), ((True, False), (True, True))),
        (
            "directional",
            Observation(False, False),
            Observation(False, False),
            ((False, False), (False, False)),
        ),
    ],
)
def test_presets_and_overrides(
    mode: str, user: Observation, agent: Observation, expected: tuple[tuple[bool, bool], ...]
) -> None:
    found = rules(mode, user, agent)  # type: ignore[arg-type]  # a table of texts
    flags = [(each.observe_me, each.observe_others) for each in (found.user, found.agent)]
    assert tuple(flags) == expected


@pytest.mark.parametrize(
    ("alone", "attributed", "expected"),
    [
        (True, True, Observation(True, True)),
        (False, True, Observation(True, False)),
        (True, False, Observation(False, False)),
        (False, False, Observation(False, False)),
    ],
)
def test_company(alone: bool, attributed: bool, expected: Observation) -> None:
    found = rules("unified", Observation(None, True), NONE)
    assert of_person(found, alone=alone, attributed=attributed) == expected


def test_nobody_is_made_to_observe_by_being_alone() -> None:
    found = rules("unified", NONE, NONE)
    assert of_person(found, alone=True, attributed=True) == Observation(True, False)
