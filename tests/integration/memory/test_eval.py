"""The evaluation in its short form: one person of each language, on the scripted model."""

from __future__ import annotations

import pytest

from tests.eval import scoring, service
from tests.eval.__main__ import evaluate
from tests.eval.scoring import Question, judge


async def test_three_people_are_known_and_kept_apart() -> None:
    data = scoring.load(people=1)
    data.questions = data.questions[::2]
    async with service.scripted() as completer, service.embedded(completer) as asked:
        verdicts = await evaluate(asked, data, "low")
        cost = await asked.cost()
    assert {each.language for each in data.questions} == set(scoring.LANGUAGES)
    faults = [each for each in verdicts if each.fault]
    assert not [each for each in faults if each.fault in ("somebody else's", "outdated")]
    assert len(faults) <= 0.1 * len(verdicts), faults
    assert cost["derive"]["calls"] <= len(data.sessions) * 2
    assert cost["derive"]["input_tokens"] > 0


def test_the_data_are_what_the_page_says() -> None:
    data = scoring.load()
    people = {who for session in data.sessions for who in session.people}
    assert (len(people), len(data.sessions), len(data.questions)) == (12, 30, 200)
    assert {each.kind for each in data.questions} == {"fact", "change", "date", "unsaid"}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("Porto", ""),
        ("First Graz, then Porto", "outdated"),
        ("Porto, before that Graz", ""),
        ("Graz", "outdated"),
        ("Portonovo", "missing"),
        ("", "missing"),
        ("Porto or Leeds", "somebody else's"),
    ],
)
def test_how_an_answer_is_judged(answer: str, fault: str) -> None:
    asked = Question("ann", "change", "Where?", "en", ("Porto",), "Graz", ("Leeds",))
    assert judge(asked, answer).fault == fault


@pytest.mark.parametrize(
    ("answer", "fault"), [("", ""), ("That is not known.", ""), ("Rex", "invented")]
)
def test_how_the_unsaid_is_judged(answer: str, fault: str) -> None:
    assert judge(Question("ann", "unsaid", "Dog?", "en"), answer).fault == fault
