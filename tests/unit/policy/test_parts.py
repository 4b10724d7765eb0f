"""Keys made of several texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.policy import parts

ANY_TEXT = st.text(st.characters())  # lone surrogates included
PARTS = st.lists(st.none() | ANY_TEXT | st.sampled_from(["-", "", ":", "%2D", "/"]), min_size=1)


@given(PARTS, st.sampled_from(":_/|"))
def test_split_gives_back_what_was_joined(given_parts: list[str | None], separator: str) -> None:
    assert parts.split(parts.join(given_parts, separator), separator) == given_parts


@given(PARTS)
def test_a_key_is_plain_ascii_without_blanks(given_parts: list[str | None]) -> None:
    key = parts.join(given_parts, ":")
    assert key.isascii()
    assert not set(key) & set(" \n\t\r")


def test_ordinary_ids_stay_readable() -> None:
    assert parts.join(("telegram", "-1005550001112", None, "a.b~c_d"), ":") == (
        "telegram:-1005550001112:-:a.b~c_d"
    )
