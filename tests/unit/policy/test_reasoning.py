"""Levels, passes and cadence of the dialectic (semantics §5)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gateway.policy.reasoning import (
    LEVELS,
    Cadence,
    DialecticRules,
    Level,
    after,
    due,
    enough,
    fresh,
    levels,
    raised,
    trivial,
)


def rules(
    *,
    cadence: int = 2,
    depth: int = 1,
    level: Level = "low",
    own: tuple[Level, ...] | None = None,
    heuristic: bool = True,
    cap: Level = "high",
) -> DialecticRules:
    return DialecticRules(cadence, depth, level, own, heuristic, cap)


@pytest.mark.parametrize(
    ("base", "cap", "length", "level"),
    [
        ("low", "high", 119, "low"),
        ("low", "high", 120, "medium"),
        ("low", "high", 399, "medium"),
        ("low", "high", 400, "high"),
        ("medium", "high", 400, "high"),
        ("low", "medium", 400, "medium"),
        ("high", "medium", 400, "high"),
        ("high", "max", 400, "high"),
        ("medium", "max", 400, "high"),
        ("max", "high", 400, "max"),
        ("minimal", "high", 400, "medium"),
    ],
)
def test_a_long_query_raises_the_level(base: Level, cap: Level, length: int, level: Level) -> None:
    assert raised(base, cap, "x" * length) == level


def test_nothing_is_raised_to_max_by_itself() -> None:
    for base in LEVELS[:-1]:
        assert raised(base, "max", "x" * 10_000) != "max"


@pytest.mark.parametrize(
    ("given", "query", "expected"),
    [
        (rules(), "hi", ("low",)),
        (rules(depth=2), "hi", ("minimal", "low")),
        (rules(depth=3), "x" * 120, ("minimal", "medium", "medium")),
        (rules(depth=3, heuristic=False), "x" * 400, ("minimal", "low", "low")),
        (rules(depth=2, own=("high", "max")), "x" * 400, ("high", "max")),
    ],
)
def test_each_pass_has_its_level(
    given: DialecticRules, query: str, expected: tuple[Level, ...]
) -> None:
    assert levels(given, query) == expected


@pytest.mark.parametrize(
    ("answer", "strong"),
    [
        ("", False),
        ("x" * 300, False),
        ("x" * 301, True),
        ("# Ada\n" + "x" * 94, True),
        ("- tea\n" + "x" * 94, True),
        ("1. tea\n" + "x" * 93, True),
        ("- tea\n" + "x" * 80, False),
        ("x" * 120, False),
    ],
)
def test_a_strong_answer_ends_the_passes(answer: str, strong: bool) -> None:
    assert enough(answer) is strong


def test_the_first_question_is_always_due() -> None:
    assert due(rules(cadence=5), Cadence(), 1)


def test_the_cadence_counts_from_the_last_answer() -> None:
    asked = [turn for turn in range(2, 8) if due(rules(cadence=3), Cadence(1), turn)]
    assert asked == [4, 5, 6, 7]


def test_empty_answers_widen_the_cadence_and_a_good_one_snaps_it_back() -> None:
    state = Cadence()
    asked = []
    for turn in range(1, 40):
        if due(rules(cadence=1), state, turn):
            asked.append(turn)
            state = after(state, turn, "")
    assert [b - a for a, b in pairwise(asked)] == [2, 3, 4, 5, 6, 7, 8]
    state = after(state, 40, "Ada likes tea")
    assert due(rules(cadence=1), state, 41)


def test_a_failed_call_does_not_consume_the_cadence() -> None:
    state = after(Cadence(1, 2), 9, None)
    assert state == Cadence(1, 2)


def test_what_was_fetched_ages_by_turns() -> None:
    assert fresh(3, 4, limit=1)
    assert not fresh(3, 5, limit=1)


@pytest.mark.parametrize(
    "text", ["", "  ", "ok", "OK!", "thanks", "Thank you!", "спасибо!", "好的。", "/new", "👍"]
)
def test_slight_messages_ask_nothing(text: str) -> None:
    assert trivial(text)


@pytest.mark.parametrize("text", ["ok, but why?", "no sugar please", "你好吗朋友", "7", "yes Ada"])
def test_other_messages_do(text: str) -> None:
    assert not trivial(text)
