"""Words of the full-text index: folding, pairs, and queries that can be anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.text.terms import Query, Term, any_of, parse, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("  ...!? ", []),
        ("Crème BRÛLÉE", ["creme", "brulee"]),
        ("Straße", ["strasse"]),
        ("Zoë Zoe\u0308", ["zoe", "zoe"]),
        ("Ёлка Йод", ["елка", "иод"]),
        ("e-mail, don't; snake_case", ["e", "mail", "don", "t", "snake", "case"]),
        ("v2.0 ７０ ① 5℃", ["v2", "0", "70", "1", "5", "c"]),
        ("किताब की", ["किताब", "की"]),
        ("北京大学", ["北京", "京大", "大学", "学"]),
        ("猫", ["猫"]),
        ("我爱Python编程", ["我爱", "爱", "python", "编程", "程"]),
        ("ｶﾞｷﾞ ガギ", ["ガギ", "ギ", "ガギ", "ギ"]),
        ("한국어를", ["한국", "국어", "어를", "를"]),
        ("コーヒー", ["コー", "ーヒ", "ヒー", "ー"]),
        ("x" * 100, ["x" * 64]),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def all_of(*terms: Term) -> Query:
    return tuple((term,) for term in terms)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", ()),
        ('"" * OR ()', ()),
        ("Tea Graz", all_of(Term(("tea",)), Term(("graz",)))),
        ("tea tea", all_of(Term(("tea",)))),
        ('"green tea" now', all_of(Term(("green", "tea")), Term(("now",)))),
        ("e-mail", all_of(Term(("e", "mail")))),
        ("gard*", all_of(Term(("gard",), prefix=True))),
        ("Crème-brû*", all_of(Term(("creme", "bru"), prefix=True))),
        ("tea OR coffee", ((Term(("tea",)), Term(("coffee",))),)),
        ("OR tea OR", all_of(Term(("tea",)))),
        ("tea or coffee", all_of(Term(("tea",)), Term(("or",)), Term(("coffee",)))),
        ("北京", all_of(Term(("北京",)))),
        ("北京大学", all_of(Term(("北京", "京大", "大学")))),
        ("猫", all_of(Term(("猫",), prefix=True))),
        ("学Python", all_of(Term(("学",), prefix=True), Term(("python",)))),
        ('tea" AND (NEAR', all_of(Term(("tea",)), Term(("and",)), Term(("near",)))),
        ("tags:p1234 NOT x", all_of(Term(("tags", "p1234")), Term(("not",)), Term(("x",)))),
    ],
)
def test_queries(text: str, query: Query) -> None:
    assert parse(text) == query


def test_any_of_the_terms() -> None:
    assert any_of(parse("tea OR coffee Graz")) == (
        (Term(("tea",)), Term(("coffee",)), Term(("graz",))),
    )
    assert any_of(()) == ()


@given(st.text())
def test_no_text_breaks_out_of_the_words(text: str) -> None:
    """Words go into query languages between quotes: nothing but letters, digits and marks."""
    every = [*words(text), *(word for group in parse(text) for t in group for word in t.words)]
    assert all(word and not set(word) & set(" \t\n\"'\\*:()-&|!<>") for word in every)


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_words_do_not_depend_on_their_neighbours(text: str, other: str) -> None:
    assert words(f"{text}\n{other}") == [*words(text), *words(other)]
