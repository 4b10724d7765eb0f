"""Entries of the memory files: how they are found, changed, counted and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.memory.entries import (
    Action,
    Change,
    ChangeError,
    Entries,
    Target,
    apply,
    block,
    dump,
    merge,
    parse,
    size,
)

ENTRIES = st.lists(
    st.text(st.characters(exclude_characters="§", exclude_categories=("Cs", "Cc"))).map(str.strip)
).map(lambda some: tuple(one for one in some if one))


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", ()),
        ("one", ("one",)),
        ("one\n§\ntwo\n", ("one", "two")),
        ("one\r\n§\r\ntwo\r\n", ("one", "two")),
        ("\ufeffone\n  § \ntwo", ("one", "two")),
        ("§\n§\none\n§\n\n§\n", ("one",)),
        ("costs 5 § a piece\nsecond line\n§\ntwo", ("costs 5 § a piece\nsecond line", "two")),
        ("one\n§\none", ("one", "one")),
        ("# a heading\n\ntext by hand", ("# a heading\n\ntext by hand",)),
    ],
)
def test_a_file_is_read_as_its_owner_would(text: str, entries: Entries) -> None:
    assert parse(text) == entries


@given(ENTRIES)
def test_what_is_written_is_what_is_read(entries: Entries) -> None:
    assert parse(dump(entries)) == entries


def test_the_header_says_name_share_and_counts() -> None:
    entries = ("a" * 700, "b" * 771)
    rule = "═" * 46
    assert size(entries) == 1474
    assert block(Target.MEMORY, entries, 2200).splitlines()[:4] == [
        rule,
        "MEMORY (your personal notes) [67% — 1,474/2,200 chars]",
        rule,
        "a" * 700,
    ]
    assert "\n§\n" in block(Target.MEMORY, entries, 2200)
    assert "USER PROFILE (who the user is) [1% — 15/1,375 chars]" in block(
        Target.USER, ("Likes brevity..",), 1375
    )
    assert block(Target.USER, (), 1375) == ""


def change(action: str, content: str = "", old: str = "") -> Change:
    return Change(Action(action), Target.MEMORY, content, old)


HAD = ("tea, no sugar", "works in Graz", "works at night")


@pytest.mark.parametrize(
    ("made", "entries"),
    [
        (change("add", " plays chess \n"), (*HAD, "plays chess")),
        (change("add", "works in Graz"), HAD),
        (change("replace", "works in Linz", "Graz"), (HAD[0], "works in Linz", HAD[2])),
        (change("replace", "works at night", "in Graz"), (HAD[0], HAD[2])),
        (change("remove", old="sugar"), HAD[1:]),
    ],
)
def test_changes(made: Change, entries: Entries) -> None:
    assert apply(HAD, made, 2200) == entries


def test_several_identical_entries_count_as_one() -> None:
    had = ("same", "other", "same")
    assert apply(had, change("replace", "new", "sam"), 2200) == ("new", "other")
    assert apply(had, change("remove", old="sam"), 2200) == ("other",)


@pytest.mark.parametrize("action", ["replace", "remove"])
def test_an_ambiguous_text_lists_what_it_fits(action: str) -> None:
    with pytest.raises(ChangeError, match=r"Multiple entries matched 'works'\. Be more") as raised:
        apply(HAD, change(action, "x", "works"), 2200)
    assert (raised.value.key, raised.value.entries) == ("matches", list(HAD[1:]))
    assert "works" not in raised.value.hidden


def test_a_text_that_fits_nothing_shows_what_there_is() -> None:
    with pytest.raises(ChangeError, match=r"No entry matched 'Wien'\.") as raised:
        apply(HAD, change("remove", old="Wien"), 2200)
    assert (raised.value.key, raised.value.entries) == ("current_entries", list(HAD))


def test_an_entry_that_does_not_fit_is_told_with_all_figures() -> None:
    had = ("x" * 2100,)
    with pytest.raises(ChangeError) as raised:
        apply(had, change("add", "y" * 250), 2200)
    assert str(raised.value) == (
        "Memory at 2,100/2,200 chars. Adding this entry (250 chars) would exceed the limit."
    )
    assert raised.value.entries == list(had)
    assert "2,100" not in raised.value.hidden
    assert "direct message" in raised.value.hidden


def test_a_file_that_is_too_long_by_hand_may_shrink() -> None:
    had = ("x" * 3000, "keep")
    assert apply(had, change("replace", "y" * 2500, "xxx"), 2200) == ("y" * 2500, "keep")
    assert apply(had, change("remove", old="xxx"), 2200) == ("keep",)


def test_the_limit_itself_fits() -> None:
    assert size(apply(("x" * 100,), change("add", "y" * 97), 200)) == 200


@given(ENTRIES, ENTRIES, ENTRIES)
def test_no_addition_is_lost_between_two_writers(
    base: Entries, ours: Entries, theirs: Entries
) -> None:
    merged = merge(base, ours, theirs)
    assert {one for one in ours if one not in base} - set(merged) == set()
    assert {one for one in theirs if one not in base} - set(merged) == set()
    assert not {one for one in base if one not in theirs and one not in ours} & set(merged)
